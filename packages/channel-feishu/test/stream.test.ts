import { setImmediate } from "node:timers/promises";
import { isChannelError } from "@signalbox/channel";
import { describe, expect, it } from "vitest";
import { type AdjustableClock, type Bench, createAdjustableClock, never, openBench } from "./harness.ts";

const chat = { id: "oc_direct" };
const minuteMs = 60_000;
const words = (...texts: string[]) => ({ parts: texts.map((text) => ({ type: "markdown" as const, text })) });

/** An account and a platform that go by a clock which the test turns. */
async function openStreaming(options: { cardKit?: boolean; rateLimit?: boolean } = {}) {
  const clock = createAdjustableClock();
  const bench = await openBench(undefined, { ...options, now: () => clock.now(), context: { clock } });
  return { bench, clock };
}

async function openDraft({ channel }: Bench, options: { messageId?: string; signal?: AbortSignal } = {}) {
  const draft = await channel.openDraft?.(chat, { idempotencyKey: "run1", signal: never, ...options });
  if (draft === undefined) throw new Error("there are no drafts");
  return draft;
}

/** What people see of a message. */
function shown({ fakeServer }: Bench, index = 0): string {
  const sent = fakeServer.sent[index];
  const card = JSON.parse(sent?.edits.at(-1) ?? sent?.content ?? "{}");
  return card.body.elements[0].content;
}

function operations({ fakeServer }: Bench): string[] {
  return fakeServer.cards.flatMap((card) => card.operations.map(({ name }) => name));
}

/** Turns the clock whenever the work waits for it: `others` pauses are none of its own. */
async function turnUntil<T>(clock: AdjustableClock, others: number, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    if (clock.pending > others) clock.advance(50);
    await setImmediate();
  }
  return done;
}

describe("a draft as a card that is streamed into", () => {
  it("is made, sent, written in rising order with each text going on from the last, and closed", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    for (const text of ["wo", "words", "words and", "words and more"]) await draft.update(text);
    expect(bench.fakeServer.cards[0]?.isStreaming).toBe(true);
    await draft.finalize(words("words and more, **all** of it"));
    const [card] = bench.fakeServer.cards;
    expect(card?.streamed).toEqual([
      { text: "words", typed: true },
      { text: "words and", typed: true },
      { text: "words and more", typed: true },
    ]);
    const numbers = card?.operations.map(({ sequence }) => sequence) ?? [];
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(card?.isStreaming).toBe(false);
    expect(operations(bench)).toEqual(["content", "content", "content", "settings", "update"]);
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(shown(bench)).toBe("words and more, **all** of it");
  });

  it("sends what is finished at once without a card entity", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    await draft.finalize(words("done"));
    expect(bench.fakeServer.cards).toEqual([]);
    expect(shown(bench)).toBe("done");
  });

  it("streams for half an hour: it is enabled again before each ten minutes are over, also in silence", async () => {
    const { bench, clock } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    await draft.update("first");
    for (const enabled of [1, 2, 3]) {
      await expect.poll(() => clock.pending).toBe(1);
      clock.advance(9 * minuteMs);
      await expect.poll(() => operations(bench).length).toBe(enabled);
    }
    clock.advance(4 * minuteMs);
    expect(operations(bench)).toEqual(["settings", "settings", "settings"]);
    await draft.update("first, then more");
    expect(bench.fakeServer.cards[0]?.streamed).toEqual([{ text: "first, then more", typed: true }]);
    await draft.finalize(words("first, then more, then all"));
    expect(shown(bench)).toBe("first, then more, then all");
  });

  it("goes on with whole cards where Feishu has ended streaming all the same", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    await draft.update("one");
    bench.fakeServer.age(11 * minuteMs);
    await draft.update("one two");
    await draft.update("one two three");
    expect(shown(bench)).toBe("one two three");
    expect(operations(bench)).toEqual(["update", "update"]);
    await draft.finalize(words("one two three four"));
    expect(shown(bench)).toBe("one two three four");
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("never makes more than ten operations a second on a card", async () => {
    const { bench, clock } = await openStreaming({ rateLimit: true });
    await using _ = bench;
    const draft = await openDraft(bench);
    await draft.update("0");
    for (let count = 1; count <= 30; count += 1) {
      // The pause until streaming is enabled again.
      await turnUntil(clock, 1, draft.update("0".repeat(count + 1)));
    }
    await turnUntil(clock, 0, draft.finalize(words("done")));
    const times = bench.fakeServer.cards[0]?.operations.map(({ at }) => at) ?? [];
    expect(times).toHaveLength(32);
    for (const at of times) {
      expect(times.filter((other) => other >= at && other < at + 1000).length).toBeLessThanOrEqual(10);
    }
  });

  it("is patched where the app lacks the scope, and asks again only after an hour", async () => {
    const { bench, clock } = await openStreaming({ cardKit: false });
    await using _ = bench;
    const asked = () => bench.fakeServer.requests.filter(({ path }) => path.includes("/cardkit/")).length;
    const draft = await openDraft(bench);
    await draft.update("wo");
    await draft.update("words");
    await draft.finalize(words("words, all"));
    const next = await bench.channel.openDraft?.(chat, { idempotencyKey: "run2", signal: never });
    await next?.update("again");
    expect(asked()).toBe(1);
    expect(bench.fakeServer.sent.map(({ edits }) => edits.length)).toEqual([2, 0]);
    expect(shown(bench)).toBe("words, all");
    expect(bench.logged.join()).toContain("cardkit:card:write");
    clock.advance(61 * minuteMs);
    const later = await bench.channel.openDraft?.(chat, { idempotencyKey: "run3", signal: never });
    await later?.update("later");
    expect(asked()).toBe(2);
  });

  it("finds the card again whose sending was not answered", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    bench.fakeServer.fail({ kind: "cut", method: "POST" });
    const lost = await draft.update("wo").catch((error: unknown) => error);
    expect(isChannelError(lost) && lost.code).toBe("unknown_outcome");
    await draft.finalize(words("words"));
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(bench.fakeServer.cards).toHaveLength(1);
    expect(shown(bench)).toBe("words");
  });

  it("is finished by a later process, whatever the numbers that the earlier one had come to", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    for (const text of ["a", "ab", "abc", "abcd"]) await draft.update(text);
    const again = await openDraft(bench, draft.messageId === undefined ? {} : { messageId: draft.messageId });
    await again.finalize(words("abcdef"));
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(shown(bench)).toBe("abcdef");
    expect(bench.fakeServer.cards[0]?.isStreaming).toBe(false);
  });

  it("goes on in the card that an earlier process has sent under its key, of which nothing else is known", async () => {
    const { bench } = await openStreaming();
    await using _ = bench;
    await (await openDraft(bench)).update("a");
    const again = await openDraft(bench);
    await again.update("ab");
    await again.update("abc");
    expect(shown(bench)).toBe("abc");
    await again.finalize(words("abcd"));
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(shown(bench)).toBe("abcd");
    const third = await openDraft(bench);
    await third.finalize(words("abcde"));
    expect(shown(bench)).toBe("abcde");
  });

  it("leaves the card alone once it was given up", async () => {
    const { bench, clock } = await openStreaming();
    await using _ = bench;
    const giveUp = new AbortController();
    const draft = await openDraft(bench, { signal: giveUp.signal });
    await draft.update("one");
    giveUp.abort();
    clock.advance(30 * minuteMs);
    await draft.update("two");
    expect(operations(bench)).toEqual([]);
  });

  it("waits for nothing once the account was stopped in the middle of an answer", async () => {
    const { bench, clock } = await openStreaming();
    {
      await using _ = bench;
      await (await openDraft(bench)).update("one");
      expect(clock.pending).toBe(1);
    }
    expect(clock.pending).toBe(0);
  });

  it("waits for nothing once it was taken back, also where Feishu did not take that", async () => {
    const { bench, clock } = await openStreaming();
    await using _ = bench;
    const draft = await openDraft(bench);
    await draft.update("one");
    bench.fakeServer.fail({ kind: "code", code: 230020, method: "DELETE" });
    await expect(draft.abort()).rejects.toThrow("Feishu");
    expect(clock.pending).toBe(0);
  });

  it("is finished however many processes have left it, each knowing nothing but its key", async () => {
    const { bench, clock } = await openStreaming();
    await using _ = bench;
    for (let life = 1; life <= 8; life += 1) {
      const draft = await openDraft(bench);
      await draft.update("x".repeat(life));
      await draft.update("x".repeat(life + 1));
      clock.advance(2_000);
    }
    await (await openDraft(bench)).finalize(words("all of it"));
    expect(bench.fakeServer.sent).toHaveLength(1);
    expect(shown(bench)).toBe("all of it");
  });
});
