import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChatMessage } from "@signalbox/protocol";
import { expect, it, onTestFinished } from "vitest";
import { type Tag, textOf } from "./conversation.ts";
import { fileOf, wrongFiles } from "./page-files.ts";

const tag: Tag = { session: 9105, number: 3, kind: "plain" };
const file = fileOf(tag);
if (file === undefined) throw new Error("every third plain message brings a file");
const { attachment, content } = file;

function message(attachments: ChatMessage["attachments"] = [attachment]): ChatMessage {
  return { id: "m", role: "user", at: 0, text: textOf(tag), attachments };
}

/** What is wrong where the agent has these files. */
function wrongWith(files: readonly string[], shown: readonly ChatMessage[], isSetAside = false): string[] {
  const inbox = mkdtempSync(join(tmpdir(), "signalbox-inbox-"));
  onTestFinished(() => rmSync(inbox, { recursive: true }));
  mkdirSync(join(inbox, "a-message"));
  for (const [index, text] of files.entries()) writeFileSync(join(inbox, "a-message", `${index}.txt`), text);
  return wrongFiles([tag], shown, inbox, () => isSetAside);
}

it("finds no fault if the conversation names the file and the agent has it", () => {
  expect(wrongWith([content], [message()])).toEqual([]);
});

it("accepts a missing file of a message that was given up", () => {
  expect(wrongWith([], [message()], true)).toEqual([]);
});

it.each([
  ["that the agent does not have", [], [message()], ["the agent does not have the file of s9105.3"]],
  ["that is cut", [content, content.slice(9)], [message()], ["a file of the page is not whole"]],
  ["that nothing names", [content], [message([])], ["the page does not name the file of s9105.3"]],
  ["whose message is not there", [content], [], ["the page does not name the file of s9105.3"]],
])("finds a file %s", (_, files, shown, wrong) => {
  expect(wrongWith(files, shown)).toEqual(wrong);
});
