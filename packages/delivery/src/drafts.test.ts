import {
  type Capabilities,
  type Channel,
  ChannelError,
  type Draft,
  type DraftOptions,
  type Json,
} from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
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
  readonly notes: ReadonlyMap<string, Json>;
  /** Destinations that something waits for. */
  readonly open: Set<string>;
  /** The run writes. */
  write(text: string): Promise<void>;
  /** Another process over the same notes. */
  restart(): Drafts;
  readonly drafts: Drafts;
}

/** A run that writes, on a platform that can show it. */
function open(capabilities: Capabilities, openDraft: NonNullable<Channel["openDraft"]>): Bench {
  const clock = manualClock();
  const notes = new Map<string, Json>();
  const noteStore: NoteStore = {
    get: async (_, key) => notes.get(key),
    async set(_, key, value) {
      notes.set(key, value);
    },
    delete: async (_, key) => notes.delete(key),
  };
  const account = plainAccount({ openDraft }, { capabilities });
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

/** On a platform where a draft is a message; with each text that was shown, or tried to be. */
function openMessages(
  capabilities: Capabilities,
  show: (text: string, count: number) => Promise<string>,
  opening: (signal: AbortSignal) => Promise<void> = async () => {},
): Bench & { readonly shown: readonly string[] } {
  const shown: string[] = [];
  const bench = open(capabilities, async (_to, options) => {
    let { messageId } = options;
    await opening(options.signal);
    return {
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
  });
  return { ...bench, shown };
}

const LIFETIME_MS = 30_000;

/** On a platform that shows what is written for a while; with what was done to each of its previews. */
function openPreviews(
  preview: NonNullable<Capabilities["preview"]>,
  update: () => Promise<void> = async () => {},
): Bench & { readonly done: readonly string[]; readonly opened: readonly DraftOptions[] } {
  const done: string[] = [];
  const opened: DraftOptions[] = [];
  const bench = open({ ...KEYED, preview }, async (_to, options): Promise<Draft> => {
    const name = `p${opened.push(options)}`;
    return {
      messageId: undefined,
      async update(text) {
        done.push(`${name} ${text}`);
        await update();
      },
      prolong: async () => void done.push(`${name} prolonged`),
      finalize: () => Promise.reject(new Error("a preview is no message")),
      abort: async () => void done.push(`${name} gone`),
    };
  });
  return { ...bench, done, opened };
}

describe("a draft that becomes the reply", () => {
  it("notes the message, and gives it to whoever goes on with the run", async () => {
    const bench = openMessages(KEYED, async () => "om_1");
    await bench.write("one");
    const next = bench.restart();
    await next.recall(runId);
    expect((await next.end(runId))?.reference).toMatchObject({ messageId: "om_1" });
    next.settled(runId);
    await settled();
    expect(bench.notes.size).toBe(0);
  });

  it("is not shown before what still waits for its way out to the same place", async () => {
    const bench = openMessages(KEYED, async () => "om_1");
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
    const bench = openMessages(KEYED, () => gate.promise);
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
    const bench = openMessages(KEYED, async () => "om_1", opening);
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
    const bench = openMessages(
      KEYED,
      async () => "om_1",
      async (signal) => void signals.push(signal),
    );
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
    const keyed = openMessages(KEYED, lost);
    await keyed.write("one");
    expect(keyed.shown).toHaveLength(1);
    await keyed.write("one and");
    expect(keyed.shown).toHaveLength(2);
    expect((await keyed.drafts.end(runId))?.reference?.messageId).toBe("om_1");

    const keyless = openMessages(KEYLESS, lost);
    await keyless.write("one");
    expect(keyless.shown).toHaveLength(1);
    await keyless.write("one and");
    expect(await keyless.drafts.end(runId)).toBeUndefined();
    expect(keyless.shown).toEqual(["one"]);
  });

  it("forgets a draft that only its key leads to when the platform has forgotten the key", async () => {
    const bench = openMessages(KEYED, () => Promise.reject(new ChannelError("unknown_outcome", "no answer")));
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
    const bench = openMessages(KEYED, async (_text, count) => {
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
    const bench = openMessages(KEYED, async (_text, count) => {
      if (count === 1) throw new ChannelError("rate_limited", "too fast", { retryAfterMs: 60_000 });
      return "om_1";
    });
    await bench.write("one");
    expect(bench.shown).toHaveLength(1);
    await bench.write("one and");
    expect(await bench.drafts.end(runId)).toBeUndefined();
    expect(bench.shown).toEqual(["one"]);
  });
});

describe("a preview, which its platform takes away by itself", () => {
  it("is another one before its platform takes it away, for as long as the run writes", async () => {
    const { clock, done, opened, drafts, write } = openPreviews({ lifetimeMs: LIFETIME_MS });
    await write("one");
    await clock.advance(LIFETIME_MS);
    await write("one and two");
    await clock.advance(LIFETIME_MS);
    expect(done).toEqual(["p1 one", "p2 one", "p1 gone", "p2 one and two", "p3 one and two", "p2 gone"]);
    expect(new Set(opened.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
    expect(drafts.isShown(runId)).toBe(true);
    await drafts.end(runId);
    expect(done.at(-1)).toBe("p3 gone");
    await clock.advance(10 * LIFETIME_MS);
    expect(done).toHaveLength(7);
  });

  it("is prolonged where its platform does that", async () => {
    const { clock, done, write } = openPreviews({ lifetimeMs: LIFETIME_MS, prolong: true });
    await write("one");
    await clock.advance(2 * LIFETIME_MS);
    expect(done).toEqual(["p1 one", "p1 prolonged", "p1 prolonged"]);
  });

  it("is nothing that the reply needs: it is gone at the end, and nobody takes it up", async () => {
    const { done, notes, opened, drafts, write } = openPreviews({ lifetimeMs: LIFETIME_MS });
    await write("one");
    expect(await drafts.end(runId)).toEqual({ text: "one" });
    expect(done).toEqual(["p1 one", "p1 gone"]);
    expect(opened.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(notes.size).toBe(0);
  });

  it("keeps nobody waiting at the end", async () => {
    const never = Promise.withResolvers<void>();
    const { clock, drafts, write } = openPreviews({}, () => never.promise);
    await write("one");
    let ended: unknown;
    void drafts.end(runId).then((end) => {
      ended = end;
    });
    await clock.advance(30_000);
    expect(ended).toEqual({ text: "one" });
  });

  it("begins anew with the next words where it could not be kept", async () => {
    let isAway = false;
    const { clock, done, write } = openPreviews({ lifetimeMs: LIFETIME_MS }, async () => {
      if (isAway) throw new ChannelError("transient", "not now");
    });
    await write("one");
    isAway = true;
    await clock.advance(LIFETIME_MS);
    expect(done).toEqual(["p1 one", "p2 one"]);
    isAway = false;
    await write("one and two");
    await settled();
    expect(done.at(-1)).toBe("p3 one and two");
  });
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
