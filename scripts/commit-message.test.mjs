import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkMessage } from "./commit-message.mjs";

describe("checkMessage", () => {
  it.each([
    "agent-core: update benchmark figures",
    "server, protocol, client: rewrite comments",
    "Merge branch 'a'",
    'Revert "agent-core: update benchmark figures"',
    "tools: embed the schema of a tool\n\nModels call tools more reliably if they see it.",
    "Pass the abort signal to the provider",
  ])("accepts %j", (message) => {
    expect(checkMessage(message)).toEqual([]);
  });

  it.each([
    ["", "write a subject"],
    [`agent-core: ${"x".repeat(61)}`, "shorten the subject to 72 characters (it has 73)"],
    ["runs: end a run on a stop; fix drafts", "split the commit: the subject has a semicolon"],
    ["Update the figures.", "remove the period at the end of the subject"],
    ["Update the figures\nand the tests", "leave the second line empty"],
    [
      "agent-core: the figures of the bench",
      'start with a verb in the imperative, such as "add" or "fix", not with "the"',
    ],
    ["setup: what one channel comes to", expect.stringContaining('not with "what"')],
    ["Added a limit", expect.stringContaining('not with "Added"')],
    ["Adding a limit", expect.stringContaining('not with "Adding"')],
    ["Adds a limit", expect.stringContaining('not with "Adds"')],
  ])("refuses %j", (message, problem) => {
    expect(checkMessage(message)).toEqual([problem]);
  });
});

it("works as a commit-msg hook", () => {
  const file = join(mkdtempSync(join(tmpdir(), "signalbox-commit-")), "COMMIT_EDITMSG");
  const script = join(import.meta.dirname, "commit-message.mjs");
  const run = () => execFileSync(process.execPath, [script, file], { encoding: "utf8", stdio: "pipe" });
  writeFileSync(file, "Update the figures\n# Please enter the commit message for your changes.\n");
  run();
  writeFileSync(file, "Figures; updated\n");
  expect(run).toThrow(/split the commit/);
});
