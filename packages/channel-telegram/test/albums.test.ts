import { createInMemoryState, type InboundEvent } from "@signalbox/channel";
import { createAdjustableClock } from "@signalbox/channel/testkit";
import { messageObject, startTelegram, textMessage, update } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { type Bench, openBench, token, webhookSecret } from "./harness.ts";

/** One image of an album. */
function picture(album: string, fileId: string, caption?: string, chat?: { id: number; type: "supergroup" }) {
  const photo = [{ file_id: fileId, file_unique_id: `u-${fileId}`, width: 10, height: 10 }];
  const fields = { media_group_id: album, photo, caption };
  return update("message", messageObject(undefined, { fields, chat }));
}

function seen(events: readonly InboundEvent[]) {
  return events.map((event) =>
    event.type === "message"
      ? { text: event.text, files: event.media.map(({ ref }) => Object(ref).fileId) }
      : { type: event.type },
  );
}

const polls = ({ fakeServer }: Bench) =>
  fakeServer.requests.filter(({ path }) => path.endsWith("/getUpdates")).length;

describe("an album", () => {
  it("becomes one message with all its images, including late ones, at the first one's position", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({}, { context: { clock } });
    const before = bench.fakeServer.push(textMessage("before"));
    await before;
    const parts = [bench.fakeServer.push(picture("7", "a", "look at these"))];
    await expect.poll(() => clock.pending).toBe(1);
    parts.push(bench.fakeServer.push(textMessage("between")), bench.fakeServer.push(picture("7", "b")));
    const asked = polls(bench);
    clock.advance(500);
    await expect.poll(() => polls(bench)).toBeGreaterThan(asked);
    await expect.poll(() => clock.pending).toBe(1);
    expect(bench.events).toHaveLength(1);
    expect(bench.fakeServer.pending()).toBe(3);
    clock.advance(500);
    await Promise.all(parts);
    expect(seen(bench.events)).toEqual([
      { text: "before", files: [] },
      { text: "look at these", files: ["a", "b"] },
      { text: "between", files: [] },
    ]);
  });

  it("becomes one message even if a page of updates ends within it", async () => {
    const fakeServer = await startTelegram({ token });
    try {
      const texts = Array.from({ length: 99 }, (_, number) => fakeServer.push(textMessage(`${number}`)));
      const parts = [fakeServer.push(picture("7", "a", "both")), fakeServer.push(picture("7", "b"))];
      await using bench = await openBench({}, { fakeServer });
      await Promise.all([...texts, ...parts]);
      expect(seen(bench.events.slice(99))).toEqual([{ text: "both", files: ["a", "b"] }]);
    } finally {
      await fakeServer.stop();
    }
  });

  it("is confirmed only as a whole and emitted once, even after a crash in between", async () => {
    const fakeServer = await startTelegram({ token });
    const state = createInMemoryState();
    const taken: InboundEvent[] = [];
    try {
      const parts = [fakeServer.push(picture("7", "a", "both")), fakeServer.push(picture("7", "b"))];
      {
        await using bench = await openBench({}, { fakeServer, context: { state } });
        // The host stored the album, and the process dies before confirming it.
        const kept = Promise.withResolvers<void>();
        bench.onEmit = async (event) => {
          taken.push(event);
          kept.resolve();
          return "rejected";
        };
        await kept.promise;
        expect(fakeServer.pending()).toBe(2);
      }
      parts.push(fakeServer.push(picture("7", "c")));
      await using bench = await openBench({}, { fakeServer, context: { state } });
      await Promise.all(parts);
      const [first] = bench.events;
      expect(first?.eventId).toBe(taken[0]?.eventId);
      // The late item is not part of the redelivered album, which the host would deduplicate.
      expect(seen(bench.events)).toEqual([
        { text: "both", files: ["a", "b"] },
        { text: "", files: ["c"] },
      ]);
    } finally {
      await fakeServer.stop();
    }
  });

  it("is not emitted partially after an update within it was rejected", async () => {
    await using bench = await openBench();
    const tried: string[] = [];
    bench.onEmit = async (event) => {
      const text = event.type === "message" ? event.text : "";
      tried.push(text);
      return text === "between" && tried.length < 3 ? "rejected" : "accepted";
    };
    const parts = [picture("7", "a", "album"), textMessage("between"), picture("7", "b")];
    await Promise.all(parts.map((part) => bench.fakeServer.push(part)));
    expect(tried).toEqual(["album", "between", "between"]);
  });

  it("is addressed to the bot in a group if one caption mentions it", async () => {
    await using bench = await openBench();
    const group = { id: -1_001_234, type: "supergroup" } as const;
    const plain = picture("7", "a", undefined, group);
    const mentioning = picture("7", "b", "@signalbox_bot what is this?", group);
    Object.assign(Object(mentioning["message"]), {
      caption_entities: [{ type: "mention", offset: 0, length: 14 }],
    });
    await Promise.all([plain, mentioning].map((part) => bench.fakeServer.push(part)));
    expect(bench.events).toMatchObject([{ addressed: "mention", text: "what is this?" }]);
    expect(seen(bench.events)).toMatchObject([{ files: ["a", "b"] }]);
  });

  it("becomes one message with a webhook too, and each request is answered after the whole album", async () => {
    const clock = createAdjustableClock();
    const config = { transport: "webhook", webhookSecret } as const;
    await using bench = await openBench(config, { context: { clock } });
    // The pause before the next webhook check.
    await expect.poll(() => clock.pending).toBe(1);
    const post = async (part: unknown) => {
      const headers = { "x-telegram-bot-api-secret-token": webhookSecret };
      const request = new Request("http://gateway/", { method: "POST", headers, body: JSON.stringify(part) });
      return (await bench.channel.webhook?.(request))?.status;
    };
    const answers = [picture("7", "a", "two"), picture("7", "b")].toReversed().map(post);
    await expect.poll(() => clock.pending).toBe(2);
    expect(bench.events).toEqual([]);
    clock.advance(500);
    await expect.poll(() => clock.pending).toBe(2);
    clock.advance(500);
    expect(await Promise.all(answers)).toEqual([200, 200]);
    expect(seen(bench.events)).toEqual([{ text: "two", files: ["a", "b"] }]);
  });
});
