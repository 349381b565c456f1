import { expect, it } from "vitest";
import { INSTALLED } from "./installed.ts";

it("tells what is installed from what is not, also of packages for ES modules alone", () => {
  const there = ["zod", "grammy", "@mistralai/mistralai", "@anthropic-ai/sdk", "@discordjs/ws"];
  expect(INSTALLED.missing(there)).toEqual([]);
  expect(INSTALLED.missing(["zod", "@nobody/has-this"])).toEqual(["@nobody/has-this"]);
});
