import { expect, it } from "vitest";
import { getOwnCommand, withOwnCommand } from "./own-command.ts";

it.each([
  [{}, "signalbox"],
  [{ npm_command: "exec" }, "npx signalbox"],
  [{ npm_command: "exec", SIGNALBOX_COMMAND: "npm run signalbox --" }, "npm run signalbox --"],
])("names the program as the user runs it: %j", (env, own) => {
  expect(getOwnCommand(env)).toBe(own);
  expect(withOwnCommand("Run `signalbox start`, then `signalbox link --home /x`.", env)).toBe(
    `Run \`${own} start\`, then \`${own} link --home /x\`.`,
  );
});

it("replaces the examples of the help, but no names", () => {
  const env = { npm_command: "exec" };
  expect(withOwnCommand("Examples:\n  signalbox init\n", env)).toBe("Examples:\n  npx signalbox init\n");
  for (const text of ["signalbox: failed", "the user `signalbox`", "/etc/signalbox.yaml", "`signalbox.yaml`"])
    expect(withOwnCommand(text, env)).toBe(text);
});
