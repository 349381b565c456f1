import type { ScriptedTurn } from "@signalbox/testkit";
import { expect, it } from "vitest";
import { afterDeath, type Moment } from "./after-death.ts";

const PARAGRAPHS = [
  "It looks around first, since nobody told it what is there.",
  "Then it writes all of this down, so that it can be read.",
  "In the end it says what it has found, and goes home again.",
];
const REPLIES = { blocks: { when: "always", minChars: 20, maxChars: 80 } };
/** A paragraph takes longer to write than a busy machine takes to store and send the block before it. */
const slowly = (paragraphs: readonly string[]): ScriptedTurn => ({
  text: paragraphs.join("\n\n"),
  chunks: 30,
  deltaMs: 100,
});

/** What was said in the end, message by message. */
async function saidAfter(moment: Moment, next: readonly string[]): Promise<string[]> {
  const there = await afterDeath(moment, [slowly(PARAGRAPHS), slowly(next)], REPLIES);
  return there.map((content) => {
    const { text, zh_cn } = JSON.parse(content);
    return text ?? zh_cn?.content[0][0].text;
  });
}

const MOMENTS: readonly Moment[] = [
  "enqueue.before:1",
  "enqueue.after:1",
  "send.after:1",
  "enqueue.before:2",
  "finish.before:1",
];

it.each(MOMENTS)(
  "a process that dies at %s between blocks loses none and says none twice",
  async (moment) => {
    expect(await saidAfter(moment, PARAGRAPHS)).toEqual(PARAGRAPHS);
  },
);

it("a process that dies after the end of its run leaves the last block to the next process", async () => {
  // What is not sent when the run ends is one message, however long it is.
  expect((await saidAfter("finish.after:1", [])).join("\n\n")).toBe(PARAGRAPHS.join("\n\n"));
});

it("a different answer continues at the first difference", async () => {
  const [first = ""] = PARAGRAPHS;
  const other = [first, "But then it thinks better of it, and does nothing at all."];
  expect(await saidAfter("enqueue.after:1", other)).toEqual(other);
});
