import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, inStore, openWorld, ZHANG } from "../harness.ts";
import type { Failpoint } from "./failpoints.ts";

const FIRST = "It looks around first, and then it writes all of this down.";
const SECOND = "It was asked again, and says it in other words.";
const slowly = (text: string): ScriptedTurn => ({ text, chunks: 12, deltaMs: 40 });

type Moment = `${Failpoint}:${number}`;

/** What stands at the platform after a process died at that moment and another one went on. */
async function afterDeath(moment: Moment, turns: readonly ScriptedTurn[]): Promise<readonly string[]> {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script(turns);
  const first = await world.startTuned({
    SIGNALBOX_FAILPOINT: `${moment}:kill`,
    SIGNALBOX_DRAFT_MS: "1",
  });
  await first.post(textMessage("how?", { senderId: ZHANG }));
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  const second = await world.startChild();
  const atRest = async () => {
    const response = await fetch(`${second.url}/api/status`, {
      headers: { authorization: "Bearer token-of-the-owner-0123456789" },
    });
    const status: unknown = await response.json();
    return JSON.stringify(status).includes('"inboxPending":0,"outboxPending":0');
  };
  await eventually(atRest, "the gateway comes to rest");
  await second.end("SIGTERM");
  const ended = await inStore(world, (store) =>
    store.outbox.list({ states: ["dead", "uncertain", "expired"] }),
  );
  expect(ended).toEqual([]);
  return world.feishu.sent.flatMap(({ deleted, edits, content }) =>
    deleted ? [] : [edits.at(-1) ?? content],
  );
}

describe("a process that dies beside a draft", () => {
  const beforeTheEnd: readonly Moment[] = [
    "draftNote.before:1",
    "draftNote.after:1",
    "draftShow.after:1",
    "draftNote.after:2",
    "draftShow.after:2",
    "finish.before:1",
  ];
  it.each(beforeTheEnd)("at %s leaves one message, with what the next one says", async (moment) => {
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

  it("after the model broke off leaves one message, with the word about it", async () => {
    const broken = { status: 400, message: "no" };
    const there = await afterDeath("draftShow.after:2", [slowly(FIRST), { error: broken }]);
    expect(there).toHaveLength(1);
    expect(there[0]).toContain("Sorry, I could not answer");
  });
});
