import type { Capabilities, Json } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { manualClock, settled } from "../../test/manual-clock.ts";
import { KEYED, plainAccount, silentLogger } from "../../test/plain.ts";
import type { NoteStore } from "../drafts.ts";
import type { OutboxRow } from "../outbox.ts";
import { createMemoryOutbox } from "../testkit/memory-outbox.ts";
import { type BlockReplies, type BlockRepliesOptions, createBlockReplies } from "./block-replies.ts";

const runId = "run";
const lease = { name: "gateway", epoch: 1 };
const PARAGRAPHS = [
  "The first paragraph of it.",
  "The second paragraph of it.",
  "The third paragraph of it.",
];
const [FIRST = "", SECOND = "", THIRD = ""] = PARAGRAPHS;
const RULES = { minChars: 20, maxChars: 40, breakAt: "paragraph", idleMs: 1_000 } as const;

interface Bench {
  readonly blocks: BlockReplies;
  /** The run has written all of this by now; `ms` pass. */
  write(text: string, ms?: number): Promise<void>;
  /** The texts in the outbox, in order. */
  said(): Promise<string[]>;
  /** Another process over the same store: the run is asked again from its beginning. */
  restart(): Promise<Bench>;
  readonly handedOver: readonly OutboxRow[];
  readonly stop: AbortController;
  /** What the next writes to the store throw. */
  failing: { note?: Error; enqueue?: Error };
}

function open(
  options: Partial<BlockRepliesOptions<OutboxRow, string>> = {},
  capabilities: Capabilities = KEYED,
) {
  const clock = manualClock();
  const outbox = createMemoryOutbox(clock);
  const notes = new Map<string, Json>();
  const account = plainAccount({}, { capabilities });
  const failing: Bench["failing"] = {};
  const noteStore: NoteStore = {
    get: async (_, key) => notes.get(key),
    async set(_, key, value) {
      if (failing.note !== undefined) throw failing.note;
      notes.set(key, value);
    },
    delete: async (_, key) => notes.delete(key),
  };

  function start(): Bench {
    const handedOver: OutboxRow[] = [];
    const stop = new AbortController();
    let text = "";
    const blocks = createBlockReplies<OutboxRow>({
      when: () => "without-edits",
      rules: () => RULES,
      account: () => account,
      capabilities: () => account.definition.capabilities,
      mayShow: () => true,
      notes: noteStore,
      async enqueue(_, row) {
        if (failing.enqueue !== undefined) throw failing.enqueue;
        return outbox.enqueue([row], { lease });
      },
      deliver: (rows) => handedOver.push(...rows),
      logger: silentLogger,
      clock,
      ...options,
    });
    let written: (() => void) | undefined;
    return {
      blocks,
      handedOver,
      stop,
      failing,
      async write(said, ms = 100) {
        text = said;
        const run = {
          runId,
          event: plainMessage(),
          signal: stop.signal,
          visible: () => text,
          standing: () => text,
        };
        written ??= blocks.watch(run);
        written?.();
        await clock.advance(ms);
      },
      async said() {
        const rows = await outbox.list({ states: ["pending", "sending", "sent"] });
        return rows
          .toReversed()
          .flatMap(({ payload }) => payload.parts.map((part) => ("text" in part ? part.text : "")));
      },
      async restart() {
        stop.abort();
        const next = start();
        await next.blocks.recall(runId);
        return next;
      },
    };
  }
  return { bench: start(), notes };
}

it("sends each block once it is finished, the first as an answer, and hands it over", async () => {
  const { bench } = open();
  await bench.write(`${FIRST}\n\nThe sec`);
  expect(await bench.said()).toEqual([]);
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.said()).toEqual([FIRST]);
  await bench.write(PARAGRAPHS.join("\n\n"));
  expect(await bench.said()).toEqual([FIRST, SECOND]);
  expect(bench.handedOver.map(({ payload }) => payload.replyTo)).toEqual(["m", undefined]);
  expect(await bench.blocks.end(runId)).toEqual([FIRST, SECOND]);
});

it("sends what is there when nothing comes for a while", async () => {
  const { bench } = open();
  await bench.write(`${FIRST}\n\nThe sec`, 999);
  expect(await bench.said()).toEqual([]);
  await bench.write(`${FIRST}\n\nThe seco`, 999);
  expect(await bench.said()).toEqual([]);
  await bench.write(`${FIRST}\n\nThe secon`, 1_000);
  expect(await bench.said()).toEqual([FIRST]);
});

it("sends nothing more once its run is to stop or is over", async () => {
  const { bench } = open();
  await bench.write(`${FIRST}\n\nThe sec`);
  bench.stop.abort();
  await bench.write(PARAGRAPHS.join("\n\n"), 5_000);
  expect(await bench.said()).toEqual([]);
  const { bench: other } = open();
  await other.write(FIRST);
  expect(await other.blocks.end(runId)).toEqual([]);
  await other.write(PARAGRAPHS.join("\n\n"), 5_000);
  expect(await other.said()).toEqual([]);
});

it("goes on behind what an earlier process has said, and says nothing twice", async () => {
  const { bench } = open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.said()).toEqual([FIRST]);
  const next = await bench.restart();
  expect(next.blocks.isShown(runId)).toBe(true);
  await next.write(PARAGRAPHS.join("\n\n"));
  expect(await next.said()).toEqual([FIRST, SECOND]);
  expect(next.handedOver.map(({ payload }) => payload.parts)).toContainEqual([
    { type: "text", text: SECOND },
  ]);
});

it("puts a block into the outbox that was noted when the process died", async () => {
  const { bench } = open();
  bench.failing.enqueue = new Error("the process died");
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.said()).toEqual([]);
  const next = await bench.restart();
  delete bench.failing.enqueue;
  await next.write("It says");
  expect(await next.blocks.end(runId)).toEqual([FIRST]);
  expect(await next.said()).toEqual([FIRST]);
});

it("waits with the next block while the store fails, and tells whoever ends the run", async () => {
  const { bench } = open();
  bench.failing.note = new Error("the disk is full");
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.blocks.end(runId)).toEqual([]);
  const { bench: other } = open();
  other.failing.enqueue = new Error("the disk is full");
  await other.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  await expect(other.blocks.end(runId)).rejects.toThrow("the disk is full");
  delete other.failing.enqueue;
  expect(await other.blocks.end(runId)).toEqual([FIRST]);
});

it("says nothing more of an answer that is begun anew in other words", async () => {
  const { bench } = open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  const next = await bench.restart();
  await next.write(PARAGRAPHS.map((text) => text.toUpperCase()).join("\n\n"), 5_000);
  expect(await next.said()).toEqual([FIRST]);
  expect(await next.blocks.end(runId)).toEqual([FIRST]);
});

it("forgets a run whose reply is in the outbox", async () => {
  const { bench, notes } = open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(notes.size).toBe(1);
  await bench.blocks.end(runId);
  bench.blocks.settled(runId);
  await settled();
  expect(notes.size).toBe(0);
  expect(bench.blocks.isShown(runId)).toBe(false);
});

it("is for platforms whose messages cannot be changed, unless it is asked for everywhere", async () => {
  const text = `${FIRST}\n\n${SECOND}\n\n${THIRD}`;
  const editable: Capabilities = { ...KEYED, edit: { ownOnly: true } };
  const cases: readonly (readonly [
    Partial<BlockRepliesOptions<OutboxRow, string>>,
    Capabilities,
    boolean,
  ])[] = [
    [{}, KEYED, true],
    [{ when: () => "off" }, KEYED, false],
    [{ mayShow: () => false }, KEYED, false],
    [{}, editable, false],
    [{ when: () => "always" }, editable, true],
    [{ when: () => "always" }, { ...KEYED, readsSession: true }, false],
    [{ when: () => "always" }, { ...KEYED, awaitsSingleAnswer: true }, false],
  ];
  for (const [options, capabilities, isSent] of cases) {
    const { bench } = open(options, capabilities);
    await bench.write(text);
    expect((await bench.said()).length > 0).toBe(isSent);
  }
});
