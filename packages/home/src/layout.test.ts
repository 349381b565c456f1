import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { locateHome } from "./layout.ts";

it("ignores an empty variable or option", () => {
  const usual = join(homedir(), ".signalbox");
  expect(locateHome(undefined, { SIGNALBOX_HOME: "" }).dir).toBe(usual);
  expect(locateHome("", { SIGNALBOX_HOME: "/srv/box" }).dir).toBe("/srv/box");
});
