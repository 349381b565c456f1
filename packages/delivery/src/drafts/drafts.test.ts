import {
  type Capabilities,
  type Channel,
  ChannelError,
  type Draft,
  type DraftOptions,
} from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/manual-clock.ts";
import { createRunId, openOutbox } from "../../test/open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "../../test/plain.ts";
import type { Destination, DraftReference } from "../outbox.ts";
import { createDrafts, type Drafts, type DraftsOptions } from "./drafts.ts";
import { finishDraft } from "./finish-draft.ts";

const HOUR = 3_600_000;
const runId = createRunId();
/** A platform without idempotency keys: a repeated send is a duplicate. */
const KEYLESS: Capabilities = { ...KEYED, delivery: {} };

/** Without a question, drafts add nothing to the outbox. */
const NOT_SENT: Pick<DraftsOptions, "capabilities" | "enqueue" | "deliver"> = {
  capabilities: () => expect.unreachable(),
  enqueue: () => expect.unreachable(),
  deliver: () => expect.unreachable(),
};

/** A platform with keys for drafts only. */
const KEYED_DRAFTS: Capabilities = { ...KEYED, delivery: { draftKey: { windowMs: HOUR } } };

interface Bench {
  readonly clock: ManualClock;
  /** Number of stored notes. */
  countNotes(): Promise<number>;
  /** Addresses with open rows in the outbox. */
  readonly open: Set<string>;
  /** Sets the text of the run, then advances the clock by a second. */
  write(text: string): Promise<void>;
  /** The remaining duration of the lease, in milliseconds. */
  readonly lease: { ms: number };
  /** Starts another process with the same notes. */
  restart(): Drafts;
  readonly drafts: Drafts;
}

/** Opens drafts on a platform, with a run that writes. */
async function open(
  capabilities: Capabilities,
  openDraft: NonNullable<Channel["openDraft"]>,
): Promise<Bench> {
  const { notes, clock } = await openOutbox();
  const account = plainAccount({ openDraft }, { capabilities });
  const waiting = new Set<string>();
  const lease = { ms: HOUR };
  const restart = (): Drafts =>
    createDrafts({
      getLeaseMs: () => lease.ms,
      notes,
      hasOpen: async ({ address }: Destination) => waiting.has(address),
      account: () => account,
      ...NOT_SENT,
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
    countNotes: async () => (await notes.list("draft")).length,
    open: waiting,
    lease,
    restart,
    drafts,
    async write(now) {
      text = now;
      written?.();
      await clock.advance(1_000);
    },
  };
}

/** Opens drafts that are messages, and records each text that was to be shown. */
async function openMessages(
  capabilities: Capabilities,
  show: (text: string, count: number) => Promise<string>,
  opening: (signal: AbortSignal) => Promise<void> = async () => {},
): Promise<Bench & { readonly shown: readonly string[] }> {
  const shown: string[] = [];
  const bench = await open(capabilities, async (_to, options) => {
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

/** Opens drafts that are previews, and records what happens to each. */
async function openPreviews(
  preview: NonNullable<Capabilities["preview"]>,
  update: () => Promise<void> = async () => {},
): Promise<Bench & { readonly done: readonly string[]; readonly opened: readonly DraftOptions[] }> {
  const done: string[] = [];
  const opened: DraftOptions[] = [];
  const bench = await open({ ...KEYED, preview }, async (_to, options): Promise<Draft> => {
    const name = `p${opened.push(options)}`;
    return {
      messageId: undefined,
      async update(text) {
        done.push(`${name} ${text}`);
        await update();
      },
      prolong: async () => void done.push(`${name} prolonged`),
      finalize: () => Promise.reject(new Error("a preview is not a message")),
      abort: async () => void done.push(`${name} gone`),
    };
  });
  return { ...bench, done, opened };
}

describe("a draft that is a message", () => {
  it("is not changed after the end of the lease, because another process may have sent the reply", async () => {
    const { write, lease, shown, clock } = await openMessages(KEYED, async () => "m1");
    await write("one");
    lease.ms = 0;
    await write("one two");
    expect(shown).toEqual(["one"]);
    lease.ms = HOUR;
    await clock.advance(1_000);
    expect(shown).toEqual(["one", "one two"]);
  });

  it("goes on after requests that were refused because the lease had ended meanwhile", async () => {
    const bench = await openMessages(KEYED, async () => {
      if (bench.lease.ms === HOUR) return "m1";
      bench.lease.ms = 0;
      throw new ChannelError("transient", "the request was not sent");
    });
    await bench.write("one");
    for (let refused = 1; refused <= 4; refused += 1) {
      bench.lease.ms = 1_000;
      await bench.write(`one ${refused}`);
    }
    bench.lease.ms = HOUR;
    await bench.write("one two");
    expect(bench.shown.at(-1)).toBe("one two");
  });

  it("is found by the process that resumes the run", async () => {
    const bench = await openMessages(KEYED, async () => "om_1");
    await bench.write("one");
    const next = bench.restart();
    await next.recall(runId);
    expect((await next.end(runId))?.reference).toMatchObject({ messageId: "om_1" });
    next.complete(runId);
    await bench.clock.settle();
    expect(await bench.countNotes()).toBe(0);
  });

  it("is not shown before earlier messages to the same conversation", async () => {
    const bench = await openMessages(KEYED, async () => "om_1");
    bench.open.add("room").add("another room");
    await bench.write("one");
    await bench.clock.advance(10_000);
    expect(bench.shown).toEqual([]);
    bench.open.delete("room");
    await bench.clock.advance(1_000);
    expect(bench.shown).toEqual(["one"]);
  });

  it("waits for the current change at its end", async () => {
    const gate = Promise.withResolvers<string>();
    const bench = await openMessages(KEYED, () => gate.promise);
    await bench.write("one");
    expect(bench.shown).toHaveLength(1);
    let ended = false;
    const end = bench.drafts.end(runId).then((draft) => {
      ended = true;
      return draft;
    });
    await bench.clock.settle();
    expect(ended).toBe(false);
    gate.resolve("om_1");
    expect(await end).toMatchObject({ reference: { messageId: "om_1" }, text: "one" });
    await bench.write("two");
    expect(bench.shown).toEqual(["one"]);
  });

  it("aborts a change that takes too long at the end, so that it cannot overwrite the reply", async () => {
    const gate = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const opening = async (signal: AbortSignal) => {
      signals.push(signal);
      await gate.promise;
    };
    const bench = await openMessages(KEYED, async () => "om_1", opening);
    await bench.write("one");
    const end = bench.drafts.end(runId);
    await bench.clock.advance(21_000);
    expect(await end).toBeUndefined();
    expect(signals[0]?.aborted).toBe(true);
    gate.resolve();
    await bench.clock.settle();
    expect(bench.shown).toEqual([]);
    // If the end of the run could not be stored, the run and its draft continue.
    await bench.drafts.recall(runId);
    await bench.write("one and two");
    expect(bench.shown).toHaveLength(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("aborts the signal of the channel's draft at the end, also without a current change", async () => {
    const signals: AbortSignal[] = [];
    const bench = await openMessages(
      KEYED,
      async () => "om_1",
      async (signal) => void signals.push(signal),
    );
    await bench.write("one");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await bench.drafts.end(runId);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it("retries an unknown outcome under its key, and only on platforms with keys", async () => {
    const lost = async (_text: string, count: number) => {
      if (count === 1) throw new ChannelError("unknown_outcome", "no answer");
      return "om_1";
    };
    for (const capabilities of [KEYED, KEYED_DRAFTS]) {
      const keyed = await openMessages(capabilities, lost);
      await keyed.write("one");
      expect(keyed.shown).toHaveLength(1);
      await keyed.write("one and");
      expect(keyed.shown).toHaveLength(2);
      expect((await keyed.drafts.end(runId))?.reference?.messageId).toBe("om_1");
    }

    const keyless = await openMessages(KEYLESS, lost);
    await keyless.write("one");
    expect(keyless.shown).toHaveLength(1);
    await keyless.write("one and");
    expect(await keyless.drafts.end(runId)).toBeUndefined();
    expect(keyless.shown).toEqual(["one"]);
  });

  it("ignores a draft without a message id once its key has expired", async () => {
    const bench = await openMessages(KEYED, () =>
      Promise.reject(new ChannelError("unknown_outcome", "no answer")),
    );
    await bench.write("one");
    expect(bench.shown).toHaveLength(1);
    const soon = bench.restart();
    await soon.recall(runId);
    const ended = await soon.end(runId);
    expect([ended?.reference?.key, ended?.reference?.messageId]).toEqual([
      expect.stringMatching(/^d-/),
      undefined,
    ]);
    await bench.clock.advance(HOUR);
    const late = bench.restart();
    await late.recall(runId);
    expect(await late.end(runId)).toBeUndefined();
  });

  it("stops changing after three failures in a row and leaves the rest to the reply", async () => {
    const bench = await openMessages(KEYED, async (_text, count) => {
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

  it("waits as long as the platform demands", async () => {
    const bench = await openMessages(KEYED, async (_text, count) => {
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

describe("a draft that is a preview", () => {
  it("is replaced before it expires, for as long as the run writes", async () => {
    const { clock, done, opened, drafts, write } = await openPreviews({ lifetimeMs: LIFETIME_MS });
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

  it("is prolonged if the platform supports it", async () => {
    const { clock, done, write } = await openPreviews({ lifetimeMs: LIFETIME_MS, prolong: true });
    await write("one");
    await clock.advance(2 * LIFETIME_MS);
    expect(done).toEqual(["p1 one", "p1 prolonged", "p1 prolonged"]);
  });

  it("is removed at the end, and needs no note", async () => {
    const { done, countNotes, opened, drafts, write } = await openPreviews({ lifetimeMs: LIFETIME_MS });
    await write("one");
    expect(await drafts.end(runId)).toEqual({ text: "one", segments: [] });
    expect(done).toEqual(["p1 one", "p1 gone"]);
    expect(opened.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(await countNotes()).toBe(0);
  });

  it("does not delay the end by more than its timeouts", async () => {
    const never = Promise.withResolvers<void>();
    const { clock, drafts, write } = await openPreviews({}, () => never.promise);
    await write("one");
    let ended: unknown;
    void drafts.end(runId).then((end) => {
      ended = end;
    });
    await clock.advance(30_000);
    expect(ended).toEqual({ text: "one", segments: [] });
  });

  it("is opened again with the next text if it could not be renewed", async () => {
    let isAway = false;
    const { clock, done, write } = await openPreviews({ lifetimeMs: LIFETIME_MS }, async () => {
      if (isAway) throw new ChannelError("transient", "not now");
    });
    await write("one");
    isAway = true;
    await clock.advance(LIFETIME_MS);
    expect(done).toEqual(["p1 one", "p2 one"]);
    isAway = false;
    await write("one and two");
    await clock.settle();
    expect(done.at(-1)).toBe("p3 one and two");
  });
});

it("watches nothing without a running account, and only direct chats if configured so", () => {
  const account = plainAccount({ openDraft: () => Promise.reject(new Error("not opened here")) });
  const watches = (options: Partial<Parameters<typeof createDrafts>[0]>, event = plainMessage()): boolean => {
    const drafts = createDrafts({
      notes: { get: async () => undefined, set: async () => {}, delete: async () => false },
      hasOpen: async () => false,
      account: () => account,
      ...NOT_SENT,
      mayShow: () => true,
      stream: () => "draft",
      logger: silentLogger,
      clock: createManualClock(),
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

it("does not open a draft whose key has expired", async () => {
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
