import { expect, it } from "vitest";
import { installCommand, missingPackages } from "./installed.ts";

it("tells what is installed from what is not, also of packages for ES modules alone", () => {
  const there = ["zod", "grammy", "@mistralai/mistralai", "@anthropic-ai/sdk", "@discordjs/ws"];
  expect(missingPackages(there)).toEqual([]);
  expect(missingPackages(["zod", "@nobody/has-this"])).toEqual(["@nobody/has-this"]);
  expect(installCommand(["a", "b"])).toContain("npm install a b");
});
