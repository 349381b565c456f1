import { type Capabilities, ChannelError, type Draft, type DraftOptions } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { manualClock, settled } from "../test/manual-clock.ts";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import { createDrafts } from "./drafts.ts";

const lifetimeMs = 30_000;
const runId = "run";

/** A platform that shows what is written for half a minute, and what it shows now. */
function open(
  preview: NonNullable<Capabilities["preview"]>,
  update: (text: string) => Promise<void> = async () => {},
) {
  const clock = manualClock();
  const done: string[] = [];
  const keys = new Map<string, string>();
  const signals: AbortSignal[] = [];
  const openDraft = async (_to: unknown, options: DraftOptions): Promise<Draft> => {
    const name = `p${keys.size + 1}`;
    keys.set(options.idempotencyKey, name);
    signals.push(options.signal);
    return {
      messageId: undefined,
      async update(text) {
        done.push(`${name} ${text}`);
        await update(text);
      },
      prolong: async () => void done.push(`${name} prolonged`),
      finalize: () => Promise.reject(new Error("a preview is no message")),
      abort: async () => void done.push(`${name} gone`),
    };
  };
  const account = plainAccount({ openDraft }, { capabilities: { ...KEYED, preview } });
  const notes = new Map<string, unknown>();
  const drafts = createDrafts({
    notes: {
      get: async () => undefined,
      set: async (_, key, value) => void notes.set(key, value),
      delete: async () => {},
    },
    hasOpen: async () => false,
    account: () => account,
    mayShow: () => true,
    stream: () => "draft",
    logger: silentLogger,
    clock,
  });
  let text = "";
  const run = {
    runId,
    event: plainMessage(),
    signal: new AbortController().signal,
    visible: () => text,
    standing: () => text,
  };
  const written = drafts.watch(run);
  return {
    clock,
    done,
    keys,
    signals,
    notes,
    drafts,
    async write(said: string) {
      text = said;
      written?.();
      await clock.advance(1_000);
    },
  };
}

it("is another one before its platform takes it away, for as long as the run writes", async () => {
  const { clock, done, keys, drafts, write } = open({ lifetimeMs });
  await write("one");
  await clock.advance(lifetimeMs);
  await write("one and two");
  await clock.advance(lifetimeMs);
  expect(done).toEqual(["p1 one", "p2 one", "p1 gone", "p2 one and two", "p3 one and two", "p2 gone"]);
  expect(keys.size).toBe(3);
  expect(drafts.isShown(runId)).toBe(true);
  await drafts.end(runId);
  expect(done.at(-1)).toBe("p3 gone");
  await clock.advance(10 * lifetimeMs);
  expect(done).toHaveLength(7);
});

it("is prolonged where its platform does that", async () => {
  const { clock, done, write } = open({ lifetimeMs, prolong: true });
  await write("one");
  await clock.advance(2 * lifetimeMs);
  expect(done).toEqual(["p1 one", "p1 prolonged", "p1 prolonged"]);
});

it("is nothing that the reply needs: it is gone at the end, and nobody takes it up", async () => {
  const { done, notes, signals, drafts, write } = open({ lifetimeMs });
  await write("one");
  expect(await drafts.end(runId)).toEqual({ text: "one" });
  expect(done).toEqual(["p1 one", "p1 gone"]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(notes.size).toBe(0);
});

it("keeps nobody waiting at the end", async () => {
  const never = Promise.withResolvers<void>();
  const { clock, drafts, write } = open({}, () => never.promise);
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
  const { clock, done, write } = open({ lifetimeMs }, async () => {
    if (isAway) throw new ChannelError("transient", "not now");
  });
  await write("one");
  isAway = true;
  await clock.advance(lifetimeMs);
  expect(done).toEqual(["p1 one", "p2 one"]);
  isAway = false;
  await write("one and two");
  await settled();
  expect(done.at(-1)).toBe("p3 one and two");
});
