import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { locateHome } from "./layout.ts";

it("takes an empty variable or option for none: the folder that a command runs in is nobody's home", () => {
  const usual = join(homedir(), ".signalbox");
  expect(locateHome(undefined, { SIGNALBOX_HOME: "" }).dir).toBe(usual);
  expect(locateHome("", { SIGNALBOX_HOME: "/srv/box" }).dir).toBe("/srv/box");
});
