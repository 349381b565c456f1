import { setTimeout as delay } from "node:timers/promises";
import { type Clock, createInMemoryState, type InboundEvent, systemClock } from "@signalbox/channel";
import { createAdjustableClock } from "@signalbox/channel/testkit";
import { click, groupMigration, startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { describe, expect, it } from "vitest";
import { openBench, token } from "./harness.ts";

/** Offsets that `getUpdates` requests contained, in order. */
function offsets(requests: readonly { readonly path: string; readonly text: string }[]): unknown[] {
  return requests
    .filter(({ path }) => path.endsWith("/getUpdates"))
    .map(({ text }) => JSON.parse(text).offset);
}

describe("long polling", () => {
  it("confirms an update only after the host accepted it", async () => {
    await using bench = await openBench();
    const { promise, resolve } = Promise.withResolvers<"accepted">();
    const emitted = Promise.withResolvers<void>();
    bench.onEmit = () => {
      emitted.resolve();
      return promise;
    };
    let isConfirmed = false;
    const update = textMessage("hello");
    const confirmed = bench.fakeServer.push(update).then(() => {
      isConfirmed = true;
    });
    await emitted.promise;
    expect(isConfirmed).toBe(false);
    expect(bench.fakeServer.pending()).toBe(1);
    resolve("accepted");
    await confirmed;
    expect(offsets(bench.fakeServer.requests)).toContain(update.update_id + 1);
  });

  it("fetches rejected updates again, in order", async () => {
    await using bench = await openBench();
    const tried: string[] = [];
    bench.onEmit = async ({ eventId }) => {
      tried.push(eventId);
      return tried.length === 2 ? "rejected" : "accepted";
    };
    const updates = [textMessage("one"), textMessage("two"), textMessage("three")];
    await Promise.all(updates.map((update) => bench.fakeServer.push(update)));
    const [one, two, three] = updates.map((update) => String(update.update_id));
    expect(tried).toEqual([one, two, two, three]);
  });

  it("reports messages of a supergroup under the id of the group that it was, also after a restart", async () => {
    const state = createInMemoryState();
    const fakeServer = await startTelegram({ token });
    const group = { id: -77, type: "group" } as const;
    const supergroup = { id: -1_001_234, type: "supergroup" } as const;
    try {
      {
        await using bench = await openBench({}, { fakeServer, context: { state } });
        for (const update of [
          textMessage("before", { chat: group }),
          ...groupMigration(-77, -1_001_234),
          textMessage("after", { chat: supergroup, messageId: 5, fields: { reply_to_message: {} } }),
        ])
          await fakeServer.push(update);
        expect(bench.events).toMatchObject([
          { text: "before", conversation: { id: "-77" }, address: "telegram:-77" },
          {
            text: "after",
            conversation: { id: "-77", otherIds: ["-1001234"], kind: "group" },
            address: "telegram:-77",
            messageId: "-1001234:5",
          },
        ]);
      }
      await using bench = await openBench({}, { fakeServer, context: { state } });
      await fakeServer.push(textMessage("later", { chat: supergroup, topicId: 9 }));
      expect(bench.events).toMatchObject([{ conversation: { id: "-77" }, address: "telegram:-77/9" }]);
      fakeServer.migrate(-77, -1_001_234);
      const parts = [{ type: "text", text: "yes" }] as const;
      const options = { idempotencyKey: "k", signal: new AbortController().signal };
      await bench.channel.send({ chatId: "-77" }, { parts, replyTo: "-1001234:5" }, options);
      expect(fakeServer.sent).toMatchObject([{ chatId: "-1001234", replyTo: 5 }]);
      expect(fakeServer.requests.filter(({ path }) => path.endsWith("/sendMessage"))).toHaveLength(1);
    } finally {
      await fakeServer.stop();
    }
  });

  it("skips an update that cannot be read three times, so that later updates arrive", async () => {
    const kept = createInMemoryState();
    const get = (key: string) =>
      key.endsWith("/buttons") ? Promise.reject(new Error("broken")) : kept.get(key);
    const clock: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => systemClock.delay(ms === 1_000 ? 5 : ms, signal),
    };
    await using bench = await openBench({}, { context: { state: { ...kept, get }, clock } });
    const forgotten = bench.fakeServer.push(click("#remembered", { chatId: "7", messageId: 1 }));
    await Promise.all([forgotten, bench.fakeServer.push(textMessage("behind it"))]);
    expect(bench.events).toMatchObject([{ type: "message", text: "behind it" }]);
    expect(bench.logged.filter((line) => line.includes("it will be fetched again"))).toHaveLength(2);
  });

  it("receives updates sent while it was offline, even with stored state of another bot", async () => {
    const fakeServer = await startTelegram({ token });
    try {
      // The other bot's update ids were higher.
      const state = createInMemoryState();
      await state.set("41/offset", 999_999_999);
      const missed = fakeServer.push(textMessage("said while it was away"));
      await using bench = await openBench({}, { fakeServer, context: { state } });
      await missed;
      expect(bench.events).toMatchObject([{ type: "message", text: "said while it was away" }]);
    } finally {
      await fakeServer.stop();
    }
  });

  it("removes a registered webhook before polling", async () => {
    const fakeServer = await startTelegram({ token });
    try {
      await fetch(`${fakeServer.url}/bot${token}/setWebhook`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url: "https://old.example/hook" }),
      });
      await using bench = await openBench({}, { fakeServer });
      await fakeServer.push(textMessage("hello"));
      expect(bench.events).toHaveLength(1);
    } finally {
      await fakeServer.stop();
    }
  });

  it("reports `down` while Telegram is unreachable and reconnects by itself", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/bot", times: 3 });
    bench.fakeServer.conflict();
    await expect.poll(() => bench.channel.health().state).toBe("down");
    await expect.poll(() => bench.channel.health().state).toBe("ready");
    await bench.fakeServer.push(textMessage("still here"));
    expect(bench.events).toHaveLength(1);
  });

  it("polls again within 30 seconds after a revoked token is valid again", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({}, { context: { clock } });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms && bench.channel.health().state !== "ready"; passed += 500) {
        clock.advance(500);
        await delay(10);
      }
    };
    bench.fakeServer.revoke();
    bench.fakeServer.conflict();
    await expect.poll(() => bench.channel.health().state).toBe("down");
    await pass(120_000);
    expect(bench.channel.health()).toMatchObject({ state: "down" });
    bench.fakeServer.restore();
    await pass(31_000);
    // The clock stands still while the poll is made.
    await expect.poll(() => bench.channel.health()).toEqual({ state: "ready" });
  });

  it("fails to start with a rejected token and never reveals the token", async () => {
    const fakeServer = await startTelegram({ token: "43:another-token-0123456789" });
    try {
      const error: unknown = await openBench({}, { fakeServer }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "auth", scope: "account", settings: ["botToken"] });
      expect(JSON.stringify(error) + String(error)).not.toContain(token);
    } finally {
      await fakeServer.stop();
    }
  });

  it("skips an unreadable update", async () => {
    await using bench = await openBench();
    const broken = textMessage("no sender");
    Object.assign(broken, { message: { message_id: "x", text: "no chat" } });
    await Promise.all([bench.fakeServer.push(broken), bench.fakeServer.push(textMessage("fine"))]);
    expect(bench.events.map((event: InboundEvent) => event.type === "message" && event.text)).toEqual([
      "fine",
    ]);
  });

  it("leaves updates unconfirmed if the host fails to accept them", async () => {
    const fakeServer = await startTelegram({ token });
    try {
      const first = await openBench({}, { fakeServer });
      first.onEmit = async () => {
        throw new Error("the disk is full");
      };
      const confirmed = fakeServer.push(textMessage("kept"));
      await expect.poll(() => first.logged.join()).toContain("the disk is full");
      await first[Symbol.asyncDispose]();
      await using second = await openBench({}, { fakeServer });
      await confirmed;
      expect(second.events).toHaveLength(1);
    } finally {
      await fakeServer.stop();
    }
  });
});
