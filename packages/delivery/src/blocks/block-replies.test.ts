import type { Capabilities } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { createRunId, openOutbox } from "../../test/open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "../../test/plain.ts";
import type { OutboxRow } from "../outbox.ts";
import { type BlockReplies, type BlockRepliesOptions, createBlockReplies } from "./block-replies.ts";

const runId = createRunId();
const PARAGRAPHS = [
  "The first paragraph of it.",
  "The second paragraph of it.",
  "The third paragraph of it.",
];
const [FIRST = "", SECOND = "", THIRD = ""] = PARAGRAPHS;
const RULES = { minChars: 20, maxChars: 40, breakAt: "paragraph", idleMs: 1_000 } as const;

interface Bench {
  readonly blocks: BlockReplies;
  /** Sets the text of the run, then advances the clock by `ms`. */
  write(text: string, ms?: number): Promise<void>;
  /** The texts in the outbox, in order. */
  sent(): Promise<string[]>;
  /** Starts another process with the same store, which resumes the run. */
  restart(): Promise<Bench>;
  readonly handedOver: readonly OutboxRow[];
  readonly stop: AbortController;
  /** Errors that the next writes throw. */
  failing: { note?: Error; enqueue?: Error };
}

async function open(options: Partial<BlockRepliesOptions> = {}, capabilities: Capabilities = KEYED) {
  const { outbox, notes, clock, lease } = await openOutbox();
  const account = plainAccount({}, { capabilities });
  const failing: Bench["failing"] = {};
  const failingNotes: BlockRepliesOptions["notes"] = {
    get: (namespace, key) => notes.get(namespace, key),
    async set(...note) {
      if (failing.note !== undefined) throw failing.note;
      await notes.set(...note);
    },
    delete: (namespace, key) => notes.delete(namespace, key),
  };

  function start(): Bench {
    const handedOver: OutboxRow[] = [];
    const stop = new AbortController();
    let text = "";
    const blocks = createBlockReplies({
      when: () => "without-edits",
      rules: () => RULES,
      account: () => account,
      capabilities: () => account.definition.capabilities,
      mayShow: () => true,
      notes: failingNotes,
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
      async write(now, ms = 100) {
        text = now;
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
      async sent() {
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
  return { bench: start(), notes, clock };
}

it("sends each block once it is finished; only the first quotes the answered message", async () => {
  const { bench } = await open();
  await bench.write(`${FIRST}\n\nThe sec`);
  expect(await bench.sent()).toEqual([]);
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.sent()).toEqual([FIRST]);
  await bench.write(PARAGRAPHS.join("\n\n"));
  expect(await bench.sent()).toEqual([FIRST, SECOND]);
  expect(bench.handedOver.map(({ payload }) => payload.replyTo)).toEqual(["m", undefined]);
  expect(await bench.blocks.end(runId)).toEqual([FIRST, SECOND]);
});

it("sends a short block when the writing pauses", async () => {
  const { bench } = await open();
  await bench.write(`${FIRST}\n\nThe sec`, 999);
  expect(await bench.sent()).toEqual([]);
  await bench.write(`${FIRST}\n\nThe seco`, 999);
  expect(await bench.sent()).toEqual([]);
  await bench.write(`${FIRST}\n\nThe secon`, 1_000);
  expect(await bench.sent()).toEqual([FIRST]);
});

it("sends nothing after its run was stopped or has ended", async () => {
  const { bench } = await open();
  await bench.write(`${FIRST}\n\nThe sec`);
  bench.stop.abort();
  await bench.write(PARAGRAPHS.join("\n\n"), 5_000);
  expect(await bench.sent()).toEqual([]);
  const { bench: other } = await open();
  await other.write(FIRST);
  expect(await other.blocks.end(runId)).toEqual([]);
  await other.write(PARAGRAPHS.join("\n\n"), 5_000);
  expect(await other.sent()).toEqual([]);
});

it("continues after the blocks of an earlier process and repeats none", async () => {
  const { bench } = await open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.sent()).toEqual([FIRST]);
  const next = await bench.restart();
  expect(next.blocks.isShown(runId)).toBe(true);
  await next.write(PARAGRAPHS.join("\n\n"));
  expect(await next.sent()).toEqual([FIRST, SECOND]);
  expect(next.handedOver.map(({ payload }) => payload.parts)).toContainEqual([
    { type: "text", text: SECOND },
  ]);
});

it("adds a block that was noted before the process died", async () => {
  const { bench } = await open();
  bench.failing.enqueue = new Error("the process died");
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.sent()).toEqual([]);
  const next = await bench.restart();
  delete bench.failing.enqueue;
  await next.write("It says");
  expect(await next.blocks.end(runId)).toEqual([FIRST]);
  expect(await next.sent()).toEqual([FIRST]);
});

it("holds back blocks while the store fails, and rejects at the end of the run", async () => {
  const { bench } = await open();
  bench.failing.note = new Error("the disk is full");
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await bench.blocks.end(runId)).toEqual([]);
  const { bench: other } = await open();
  other.failing.enqueue = new Error("the disk is full");
  await other.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  await expect(other.blocks.end(runId)).rejects.toThrow("the disk is full");
  delete other.failing.enqueue;
  expect(await other.blocks.end(runId)).toEqual([FIRST]);
});

it("sends no more blocks if the model starts over with another text", async () => {
  const { bench } = await open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  const next = await bench.restart();
  await next.write(PARAGRAPHS.map((text) => text.toUpperCase()).join("\n\n"), 5_000);
  expect(await next.sent()).toEqual([FIRST]);
  expect(await next.blocks.end(runId)).toEqual([FIRST]);
});

it("deletes the note of a run whose reply is in the outbox", async () => {
  const { bench, notes, clock } = await open();
  await bench.write(`${FIRST}\n\n${SECOND}\n\nThe th`);
  expect(await notes.list("blocks")).toHaveLength(1);
  await bench.blocks.end(runId);
  bench.blocks.complete(runId);
  await clock.settle();
  expect(await notes.list("blocks")).toEqual([]);
  expect(bench.blocks.isShown(runId)).toBe(false);
});

it("is enabled on platforms without edits only, unless it is set to `always`", async () => {
  const text = `${FIRST}\n\n${SECOND}\n\n${THIRD}`;
  const editable: Capabilities = { ...KEYED, edit: { ownOnly: true } };
  const cases: readonly (readonly [Partial<BlockRepliesOptions>, Capabilities, boolean])[] = [
    [{}, KEYED, true],
    [{ when: () => "off" }, KEYED, false],
    [{ mayShow: () => false }, KEYED, false],
    [{}, editable, false],
    [{ when: () => "always" }, editable, true],
    [{ when: () => "always" }, { ...KEYED, readsSession: true }, false],
    [{ when: () => "always" }, { ...KEYED, awaitsSingleAnswer: true }, false],
  ];
  for (const [options, capabilities, isSent] of cases) {
    const { bench } = await open(options, capabilities);
    await bench.write(text);
    expect((await bench.sent()).length > 0).toBe(isSent);
  }
});
