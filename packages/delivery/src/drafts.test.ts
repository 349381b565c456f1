import { type Capabilities, type Channel, ChannelError, type Draft, type Json } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { type ManualClock, manualClock, settled } from "../test/manual-clock.ts";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import { createDrafts, type Drafts, type NoteStore } from "./drafts.ts";
import { finishDraft } from "./finish-draft.ts";
import type { Destination, DraftReference } from "./outbox.ts";

const HOUR = 3_600_000;
const runId = "run";
/** A platform without keys: what is sent again is sent twice. */
const KEYLESS: Capabilities = { ...KEYED, delivery: {} };

interface Bench {
  readonly clock: ManualClock;
  readonly notes: Map<string, unknown>;
  /** Each text that was shown, or tried to be. */
  readonly shown: string[];
  /** Destinations that something waits for. */
  readonly open: Set<string>;
  /** The run writes. */
  write(text: string): Promise<void>;
  /** Another process over the same notes. */
  restart(): Drafts;
  readonly drafts: Drafts;
}

function open(
  capabilities: Capabilities,
  show: (text: string, count: number) => Promise<string>,
  extra: { readonly opening?: (signal: AbortSignal) => Promise<void> } = {},
): Bench {
  const clock = manualClock();
  const notes = new Map<string, Json>();
  const noteStore: NoteStore = {
    get: async (_, key) => notes.get(key),
    async set(_, key, value) {
      notes.set(key, value);
    },
    delete: async (_, key) => notes.delete(key),
  };
  const shown: string[] = [];
  const account = plainAccount(
    {
      async openDraft(_to, options) {
        let { messageId } = options;
        await extra.opening?.(options.signal);
        const draft: Draft = {
          get messageId() {
            return messageId;
          },
          async update(text) {
            shown.push(text);
            messageId = await show(text, shown.length);
          },
          finalize: async () => ({ parts: [] }),
          abort: async () => {},
        };
        return draft;
      },
    },
    { capabilities },
  );
  const waiting = new Set<string>();
  const restart = (): Drafts =>
    createDrafts({
      notes: noteStore,
      hasOpen: async ({ address }: Destination) => waiting.has(address),
      account: () => account,
      mayShow: () => true,
      stream: () => "draft",
      logger: silentLogger,
      clock,
    });
  let text = "";
  const drafts = restart();
  const written = drafts.watch({
    runId,
    event: plainMessage(),
    signal: new AbortController().signal,
    visible: () => text,
    standing: () => text,
  });
  return {
    clock,
    notes,
    shown,
    open: waiting,
    restart,
    drafts,
    async write(said) {
      text = said;
      written?.();
      await clock.advance(1_000);
    },
  };
}

it("notes the message, and gives it to whoever goes on with the run", async () => {
  const bench = open(KEYED, async () => "om_1");
  await bench.write("one");
  const next = bench.restart();
  await next.recall(runId);
  expect((await next.end(runId))?.reference).toMatchObject({ messageId: "om_1" });
  next.settled(runId);
  await settled();
  expect(bench.notes.size).toBe(0);
});

it("is not shown before what still waits for its way out to the same place", async () => {
  const bench = open(KEYED, async () => "om_1");
  bench.open.add("room").add("another room");
  await bench.write("one");
  await bench.clock.advance(10_000);
  expect(bench.shown).toEqual([]);
  bench.open.delete("room");
  await bench.clock.advance(1_000);
  expect(bench.shown).toEqual(["one"]);
});

it("does not end before the change that is under way", async () => {
  const gate = Promise.withResolvers<string>();
  const bench = open(KEYED, () => gate.promise);
  await bench.write("one");
  expect(bench.shown).toHaveLength(1);
  let ended = false;
  const end = bench.drafts.end(runId).then((draft) => {
    ended = true;
    return draft;
  });
  await settled();
  expect(ended).toBe(false);
  gate.resolve("om_1");
  expect(await end).toMatchObject({ reference: { messageId: "om_1" }, text: "one" });
  await bench.write("two");
  expect(bench.shown).toEqual(["one"]);
});

it("gives a change up that outlasts the end, so that nothing comes after the reply", async () => {
  const gate = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const opening = async (signal: AbortSignal) => {
    signals.push(signal);
    await gate.promise;
  };
  const bench = open(KEYED, async () => "om_1", { opening });
  await bench.write("one");
  const end = bench.drafts.end(runId);
  await bench.clock.advance(21_000);
  expect(await end).toBeUndefined();
  expect(signals[0]?.aborted).toBe(true);
  gate.resolve();
  await settled();
  expect(bench.shown).toEqual([]);
  // A run whose end could not be written goes on, and so does its draft.
  await bench.drafts.recall(runId);
  await bench.write("one and two");
  expect(bench.shown).toHaveLength(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
});

it("fires the signal of its draft at the end, also where no change is under way", async () => {
  const signals: AbortSignal[] = [];
  const bench = open(KEYED, async () => "om_1", { opening: async (signal) => void signals.push(signal) });
  await bench.write("one");
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  await bench.drafts.end(runId);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
});

it("tries again under its key where nobody knows whether it is there, and only where there are keys", async () => {
  const lost = async (_text: string, count: number) => {
    if (count === 1) throw new ChannelError("unknown_outcome", "no answer");
    return "om_1";
  };
  const keyed = open(KEYED, lost);
  await keyed.write("one");
  expect(keyed.shown).toHaveLength(1);
  await keyed.write("one and");
  expect(keyed.shown).toHaveLength(2);
  expect((await keyed.drafts.end(runId))?.reference?.messageId).toBe("om_1");

  const keyless = open(KEYLESS, lost);
  await keyless.write("one");
  expect(keyless.shown).toHaveLength(1);
  await keyless.write("one and");
  expect(await keyless.drafts.end(runId)).toBeUndefined();
  expect(keyless.shown).toEqual(["one"]);
});

it("forgets a draft that only its key leads to when the platform has forgotten the key", async () => {
  const bench = open(KEYED, () => Promise.reject(new ChannelError("unknown_outcome", "no answer")));
  await bench.write("one");
  expect(bench.shown).toHaveLength(1);
  const soon = bench.restart();
  await soon.recall(runId);
  expect((await soon.end(runId))?.reference).not.toHaveProperty("messageId");
  await bench.clock.advance(HOUR);
  const late = bench.restart();
  await late.recall(runId);
  expect(await late.end(runId)).toBeUndefined();
});

it("gives up after three failures in a row, and leaves the rest to the reply", async () => {
  const bench = open(KEYED, async (_text, count) => {
    if (count > 1) throw new ChannelError("transient", "not now");
    return "om_1";
  });
  await bench.write("0");
  expect(bench.shown).toHaveLength(1);
  await bench.write("1");
  await bench.clock.advance(10_000);
  expect(bench.shown).toHaveLength(4);
  await bench.write("2");
  expect(await bench.drafts.end(runId)).toMatchObject({ reference: { messageId: "om_1" } });
  expect(bench.shown).toHaveLength(4);
});

it("waits as long as the platform asks for", async () => {
  const bench = open(KEYED, async (_text, count) => {
    if (count === 1) throw new ChannelError("rate_limited", "too fast", { retryAfterMs: 60_000 });
    return "om_1";
  });
  await bench.write("one");
  expect(bench.shown).toHaveLength(1);
  await bench.write("one and");
  expect(await bench.drafts.end(runId)).toBeUndefined();
  expect(bench.shown).toEqual(["one"]);
});

it("watches nothing where the account does not run, and only direct conversations where that is asked for", () => {
  const account = plainAccount({ openDraft: () => Promise.reject(new Error("not opened here")) });
  const watches = (options: Partial<Parameters<typeof createDrafts>[0]>, event = plainMessage()): boolean => {
    const drafts = createDrafts({
      notes: { get: async () => undefined, set: async () => {}, delete: async () => {} },
      hasOpen: async () => false,
      account: () => account,
      mayShow: () => true,
      stream: () => "draft",
      logger: silentLogger,
      clock: manualClock(),
      ...options,
    });
    const run = { runId, event, signal: AbortSignal.abort(), visible: () => "text", standing: () => "text" };
    return drafts.watch(run) !== undefined;
  };
  const group = plainMessage({ conversation: { id: "room", kind: "group" } });
  expect([watches({}), watches({}, group)]).toEqual([true, true]);
  expect([watches({ stream: () => "direct" }), watches({ stream: () => "direct" }, group)]).toEqual([
    true,
    false,
  ]);
  expect([watches({ account: () => undefined }), watches({ mayShow: () => false })]).toEqual([false, false]);
});

it("does not look for a draft whose key is out of date", async () => {
  const opened: string[] = [];
  const running: Channel = {
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    send: async () => ({ parts: [] }),
    openDraft: (_to, { idempotencyKey }) => {
      opened.push(idempotencyKey);
      return Promise.reject(new ChannelError("not_found", "gone"));
    },
  };
  const draft: DraftReference = { key: "d-1", until: 1_000 };
  const how = { idempotencyKey: "row", signal: new AbortController().signal };
  const finish = (parts: readonly string[], now: number) =>
    finishDraft(running, {}, { parts: parts.map((text) => ({ type: "text", text })), draft }, how, {
      now,
      send: async () => ({ parts: [] }),
    });
  expect(await finish(["a"], 1_000)).toBeUndefined();
  expect(await finish([], 1_000)).toEqual({ parts: [] });
  expect(opened).toEqual([]);
  expect(await finish(["a"], 999)).toBeUndefined();
  expect(opened).toEqual(["d-1"]);
});
