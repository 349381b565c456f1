import type { ScriptedTurn } from "@signalbox/testkit";
import { describe, expect, it } from "vitest";
import { afterDeath, type Moment } from "./after-death.ts";

const FIRST = "It looks around first, and then it writes all of this down.";
const SECOND = "It was asked again, and says it in other words.";
/** Takes three seconds, so that even a busy machine shows two drafts before the end. */
const slowly = (text: string): ScriptedTurn => ({ text, chunks: 30, deltaMs: 100 });

describe("a process that dies with an open draft", () => {
  const beforeTheEnd: readonly Moment[] = [
    "draftNote.before:1",
    "draftNote.after:1",
    "draftShow.after:1",
    "draftNote.after:2",
    "draftShow.after:2",
    "finish.before:1",
  ];
  it.each(beforeTheEnd)("at %s leaves one message with the next process's answer", async (moment) => {
    const there = await afterDeath(moment, [slowly(FIRST), { text: SECOND }]);
    expect(there).toHaveLength(1);
    expect(there[0]).toContain(SECOND);
  });

  it.each(["draftShow.after:1", "draftNote.after:2"] as const)(
    "at %s leaves nothing where the next one has nothing to say",
    async (moment) => {
      expect(await afterDeath(moment, [slowly(FIRST), { text: "__SILENT__" }])).toEqual([]);
    },
  );

  it.each(["finish.after:1", "draftEnd.after:1", "receipt.after:1"] as const)(
    "at %s leaves one message, with the reply",
    async (moment) => {
      const there = await afterDeath(moment, [slowly(FIRST)]);
      expect(there).toHaveLength(1);
      expect(there[0]).toContain(FIRST);
    },
  );

  it.each(["finish.after:1", "draftEnd.after:1"] as const)(
    "at %s leaves what the tool has said, and no draft",
    async (moment) => {
      const said = { name: "message", input: { action: "send", message: FIRST } };
      const there = await afterDeath(moment, [
        { ...slowly(FIRST), toolCalls: [said] },
        { text: "__SILENT__" },
      ]);
      expect(there).toHaveLength(1);
      expect(there[0]).not.toContain('"schema"');
    },
  );

  it.each(["toolStart.after:1", "enqueue.after:1", "toolResult.before:1"] as const)(
    "at %s the message tool sends its message once, and nothing says it again",
    async (moment) => {
      const said = { name: "message", input: { action: "send", message: FIRST } };
      const there = await afterDeath(moment, [
        { ...slowly(FIRST), toolCalls: [said] },
        { text: "__SILENT__" },
      ]);
      expect(there).toHaveLength(1);
      expect(there[0]).not.toContain('"schema"');
    },
  );

  it("after the model failed leaves one message with the notice", async () => {
    const broken = { status: 400, message: "no" };
    const there = await afterDeath("draftShow.after:2", [slowly(FIRST), { error: broken }]);
    expect(there).toHaveLength(1);
    expect(there[0]).toContain("Sorry, I could not answer");
  });
});
