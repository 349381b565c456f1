import { type Capabilities, type Channel, ChannelError, type Draft } from "@signalbox/channel";
import { feishu } from "@signalbox/channel-feishu";
import { openStore, parseId, type RunId } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Account } from "../channels.ts";
import { createLogger } from "../log.ts";
import { createDrafts, type Drafts } from "./draft.ts";
import { finishDraft } from "./draft-end.ts";
import type { DraftRef, GatewayBodies, GatewayStore } from "./stored.ts";

/** Waits for longer than the second that is Vitest's own, which a busy machine may need. */
const until = (check: () => boolean | Promise<boolean>) => vi.waitUntil(check, { timeout: 30_000 });

const HOUR = 3_600_000;
const maybeRun = parseId<RunId>("01ARZ3NDEKTSV4RRFFQ69G5FAV");
if (maybeRun === undefined) throw new Error("no run");
const runId = maybeRun;

/** A platform without keys: what is sent again is sent twice. */
const KEYLESS: Capabilities = { ...feishu.capabilities, rate: [], delivery: {} };
const KEYED: Capabilities = { ...feishu.capabilities, rate: [] };

interface Bench {
  readonly store: GatewayStore;
  /** Each text that was shown, or tried to be. */
  readonly shown: string[];
  /** The run writes. */
  write(text: string): void;
  /** Another process over the same store. */
  restart(): Drafts;
  drafts: Drafts;
  now: number;
}

async function open(
  capabilities: Capabilities,
  show: (text: string, count: number) => Promise<string>,
  extra: { readonly opening?: (signal: AbortSignal) => Promise<void>; readonly endMs?: number } = {},
): Promise<Bench> {
  const store = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const shown: string[] = [];
  const running: Channel = {
    start: async () => {},
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    send: async () => ({ parts: [] }),
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
  };
  const account: Account = {
    ...{ channel: "feishu", account: "main", running },
    definition: { ...feishu, capabilities },
  };
  let text = "";
  const restart = (): Drafts =>
    createDrafts({
      store,
      account: () => account,
      hooks: { has: () => false },
      stream: "draft",
      timing: { afterMs: 0, everyMs: 0, ...(extra.endMs === undefined ? {} : { endMs: extra.endMs }) },
      logger: createLogger("silent", (line) => line),
      now: () => bench.now + performance.now(),
    });
  const bench: Bench = {
    store,
    shown,
    restart,
    now: 1_000_000,
    write(said) {
      text = said;
      watching?.();
    },
    get drafts() {
      return drafts;
    },
    set drafts(next) {
      drafts = next;
      watching = watch();
    },
  };
  let drafts = restart();
  const watch = () =>
    drafts.watch({
      runId,
      event: {
        ...{ type: "message", eventId: "e", messageId: "m", channel: "feishu", account: "main" },
        ...{ conversation: { id: "oc_1", kind: "direct" }, address: "feishu:oc_1", addressed: "dm" },
        ...{
          sender: { id: "ou_1", isBot: false, isSelf: false },
          timestamp: 0,
          text: "",
          media: [],
          mentions: [],
        },
      },
      signal: new AbortController().signal,
      visible: () => text,
      standing: () => text,
    });
  let watching = watch();
  return bench;
}

it("notes the message, and gives it to whoever goes on with the run", async () => {
  const bench = await open(KEYED, async () => "om_1");
  bench.write("one");
  await until(async () => JSON.stringify(await bench.store.kv.list("draft")).includes("om_1"));
  const next = bench.restart();
  await next.recall(runId);
  expect((await next.end(runId))?.ref).toMatchObject({ messageId: "om_1" });
  next.settled(runId);
  await until(async () => (await bench.store.kv.list("draft")).length === 0);
});

it("is not shown before what still waits for its way out to the same place", async () => {
  const bench = await open(KEYED, async () => "om_1");
  const lease = await bench.store.leases.acquire("gateway", "test", 60_000);
  if (lease === undefined) throw new Error("no lease");
  const place = { channel: "feishu", account: "main", payload: { parts: [] } };
  const [row] = await bench.store.outbox.enqueue(
    [
      { ...place, address: "feishu:oc_1", key: "here" },
      { ...place, address: "feishu:oc_2", key: "elsewhere" },
    ],
    { lease },
  );
  if (row === undefined) throw new Error("no row");
  const list = vi.spyOn(bench.store.outbox, "list");
  bench.write("one");
  await until(() => list.mock.calls.length > 2);
  expect(bench.shown).toEqual([]);
  await bench.store.outbox.drop(row.id);
  await until(() => bench.shown.length === 1);
});

it("does not end before the change that is under way", async () => {
  const gate = Promise.withResolvers<string>();
  const bench = await open(KEYED, () => gate.promise);
  bench.write("one");
  await until(() => bench.shown.length === 1);
  let ended = false;
  const end = bench.drafts.end(runId).then((draft) => {
    ended = true;
    return draft;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  gate.resolve("om_1");
  expect(await end).toMatchObject({ ref: { messageId: "om_1" }, text: "one" });
  bench.write("two");
  expect(bench.shown).toEqual(["one"]);
});

it("gives a change up that outlasts the end, so that nothing comes after the reply", async () => {
  const gate = Promise.withResolvers<void>();
  const signals: AbortSignal[] = [];
  const opening = async (signal: AbortSignal) => {
    signals.push(signal);
    await gate.promise;
  };
  const bench = await open(KEYED, async () => "om_1", { opening, endMs: 1 });
  bench.write("one");
  await until(() => signals.length === 1);
  expect(await bench.drafts.end(runId)).toBeUndefined();
  expect(signals[0]?.aborted).toBe(true);
  gate.resolve();
  await new Promise((resolve) => setImmediate(resolve));
  expect(bench.shown).toEqual([]);
  // A run whose end could not be written goes on, and so does its draft.
  await bench.drafts.recall(runId);
  bench.write("one and two");
  await until(() => bench.shown.length === 1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
});

it("tries again under its key where nobody knows whether it is there, and only where there are keys", async () => {
  const lost = async (_text: string, count: number) => {
    if (count === 1) throw new ChannelError("unknown_outcome", "no answer");
    return "om_1";
  };
  const keyed = await open(KEYED, lost);
  keyed.write("one");
  await until(() => keyed.shown.length === 1);
  keyed.write("one and");
  await until(() => keyed.shown.length === 2);
  expect((await keyed.drafts.end(runId))?.ref.messageId).toBe("om_1");

  const keyless = await open(KEYLESS, lost);
  keyless.write("one");
  await until(() => keyless.shown.length === 1);
  keyless.write("one and");
  expect(await keyless.drafts.end(runId)).toBeUndefined();
  expect(keyless.shown).toEqual(["one"]);
});

it("forgets a draft that only its key leads to when the platform has forgotten the key", async () => {
  const bench = await open(KEYED, () => Promise.reject(new ChannelError("unknown_outcome", "no answer")));
  bench.write("one");
  await until(() => bench.shown.length === 1);
  const soon = bench.restart();
  await soon.recall(runId);
  expect((await soon.end(runId))?.ref).not.toHaveProperty("messageId");
  bench.now += HOUR;
  const late = bench.restart();
  await late.recall(runId);
  expect(await late.end(runId)).toBeUndefined();
});

it("gives up after three failures in a row, and leaves the rest to the reply", async () => {
  const bench = await open(KEYED, async (_text, count) => {
    if (count > 1) throw new ChannelError("transient", "not now");
    return "om_1";
  });
  bench.write("0");
  await until(() => bench.shown.length === 1);
  bench.write("1");
  await until(() => bench.shown.length === 4);
  bench.write("2");
  expect(await bench.drafts.end(runId)).toMatchObject({ ref: { messageId: "om_1" } });
  expect(bench.shown).toHaveLength(4);
});

it("waits as long as the platform asks for", async () => {
  const bench = await open(KEYED, async (_text, count) => {
    if (count === 1) throw new ChannelError("rate_limited", "too fast", { retryAfterMs: 60_000 });
    return "om_1";
  });
  bench.write("one");
  await until(() => bench.shown.length === 1);
  bench.write("one and");
  expect(await bench.drafts.end(runId)).toBeUndefined();
  expect(bench.shown).toEqual(["one"]);
});

it("watches nothing where the account does not run", async () => {
  const bench = await open(KEYED, async () => "om_1");
  const event = {
    ...({ type: "message", eventId: "e", messageId: "m", channel: "feishu", account: "main" } as const),
    ...({
      conversation: { id: "oc_1", kind: "group" },
      address: "feishu:oc_1",
      addressed: "mention",
    } as const),
    ...{
      sender: { id: "ou_1", isBot: false, isSelf: false },
      timestamp: 0,
      text: "",
      media: [],
      mentions: [],
    },
  };
  const options = {
    store: bench.store,
    account: () => undefined,
    hooks: { has: () => false },
    stream: "draft",
    timing: undefined,
    logger: createLogger("silent", (line) => line),
    now: () => 0,
  } as const;
  const run = { runId, event, signal: AbortSignal.abort(), visible: () => "text", standing: () => "text" };
  expect(createDrafts(options).watch(run)).toBeUndefined();
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
  const draft: DraftRef = { key: "d-1", until: 1_000 };
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
