import { setTimeout as delay } from "node:timers/promises";
import { createInMemoryState } from "@signalbox/channel";
import { appMention, channelMention, slashCommand, textMessage } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, createAdjustableClock, never, openBench } from "./harness.ts";

const sockets = { transport: "socket" } as const;

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

function texts({ events }: Bench): string[] {
  return events.flatMap((event) => (event.type === "message" ? [event.text] : []));
}

describe("socket mode through the SDK", () => {
  it("opens two sockets and acknowledges events after the host accepted them", async () => {
    await using bench = await openBench(sockets);
    expect(bench.fakeServer.sockets.count()).toBe(2);
    expect(bench.channel.health()).toEqual({ state: "ready" });
    expect(await bench.fakeServer.pushEvent(textMessage("one"))).toBe(true);
    expect(await bench.fakeServer.pushEvent(textMessage("two"))).toBe(true);
    expect(await bench.fakeServer.pushEvent(slashCommand("/signalbox", "status"))).toBe(true);
    expect(texts(bench)).toEqual(["one", "two"]);
    bench.onEmit = async () => "rejected";
    expect(await bench.fakeServer.pushEvent(textMessage("three"), { withinMs: 300 })).toBe(false);
    const response = await bench.fakeServer.postEvent(bench.url, textMessage("by webhook"));
    expect(response.status).toBe(404);
  });

  it("accepts a retry like a first attempt, which may have failed before the event was stored", async () => {
    await using bench = await openBench(sockets);
    const again = { retry: { number: 1, reason: "timeout" } };
    expect(await bench.fakeServer.pushEvent(textMessage("the first try died"), again)).toBe(true);
    expect(texts(bench)).toEqual(["the first try died"]);
  });

  it("deduplicates a mention that arrives as two events and a message with two timestamps", async () => {
    await using bench = await openBench(sockets);
    const mention = channelMention("help", "U_BOT");
    await bench.fakeServer.pushEvent(mention);
    await bench.fakeServer.pushEvent(appMention(mention));
    for (const ts of ["1767225600.000100", "1767225600.000200"])
      await bench.fakeServer.pushEvent(textMessage("once", { ts, clientMsgId: "same" }));
    expect(texts(bench)).toEqual(["help", "once"]);
  });

  it("reads no history while one of two sockets is replaced", async () => {
    await using bench = await openBench(sockets);
    await bench.fakeServer.pushEvent(textMessage("before"));
    const asked = bench.fakeServer.called.filter((method) => method === "conversations.history").length;
    bench.fakeServer.sockets.refresh();
    await until(() => bench.fakeServer.sockets.count() === 2);
    expect(bench.channel.health()).toEqual({ state: "ready" });
    expect(await bench.fakeServer.pushEvent(textMessage("after"))).toBe(true);
    expect(texts(bench)).toEqual(["before", "after"]);
    expect(asked).toBe(0);
  });

  it("reconnects by itself and reads missed messages once, in threads too", async () => {
    await using bench = await openBench(sockets);
    const { fakeServer } = bench;
    const root = "1767225600.000100";
    await fakeServer.pushEvent(
      channelMention("begin", "U_BOT", { ts: `${Math.floor(Date.now() / 1000)}.000001` }),
    );
    fakeServer.sockets.drop();
    fakeServer.plant({ channel: "C_GENERAL", text: "<@U_BOT> meanwhile", clientMsgId: "m-1" });
    const [opening] = bench.events;
    const threadTs = opening?.type === "message" ? (opening.conversation.threadId ?? root) : root;
    fakeServer.plant({ channel: "C_GENERAL", threadTs, text: "in the thread", clientMsgId: "m-2" });
    fakeServer.plant({ channel: "C_GENERAL", user: "U_BOT", botId: "B_BOT", text: "the bot's own" });
    await until(() => texts(bench).length === 3);
    // A thread is a separate conversation with its own order.
    expect(texts(bench).toSorted()).toEqual(["begin", "in the thread", "meanwhile"]);
    expect(bench.channel.health()).toEqual({ state: "ready" });
    await fakeServer.pushEvent(
      textMessage("<@U_BOT> meanwhile", { channelType: "channel", clientMsgId: "m-1" }),
    );
    expect(texts(bench)).toHaveLength(3);
  });

  it("reads missed messages after a restart, but none on the first start", async () => {
    const state = createInMemoryState();
    const fakeServer = { users: {} };
    {
      await using before = await openBench(sockets, { fakeServer, context: { state } });
      await before.fakeServer.pushEvent(textMessage("before"));
      expect(texts(before)).toEqual(["before"]);
    }
    {
      await using after = await openBench(sockets, { fakeServer, context: { state }, start: false });
      after.fakeServer.plant({ channel: "D_DIRECT", text: "meanwhile" });
      await after.channel.start(never);
      await until(() => after.events.length > 0);
      expect(texts(after)).toEqual(["meanwhile"]);
    }
    {
      const bot = { userId: "U_NEW", botId: "B_NEW", name: "another" };
      await using other = await openBench(sockets, { fakeServer: { bot }, context: { state }, start: false });
      other.fakeServer.plant({ channel: "D_DIRECT", text: "long ago" });
      await other.channel.start(never);
      await other.fakeServer.pushEvent(textMessage("now"));
      expect(texts(other)).toEqual(["now"]);
      expect(other.fakeServer.called).not.toContain("conversations.history");
    }
  });

  it("emits live messages after the missed ones of their conversation", async () => {
    await using bench = await openBench(sockets);
    const { fakeServer } = bench;
    await fakeServer.pushEvent(textMessage("before"));
    const reads = Promise.withResolvers<void>();
    fakeServer.fail({ kind: "hold", method: "conversations.history", until: reads.promise });
    fakeServer.sockets.drop();
    for (const text of ["missed 1", "missed 2"]) fakeServer.plant({ channel: "D_DIRECT", text });
    await until(() => fakeServer.sockets.count() > 0 && fakeServer.called.includes("conversations.history"));
    const pushed = fakeServer.pushEvent(textMessage("live"));
    await delay(200);
    expect(texts(bench)).toEqual(["before"]);
    reads.resolve();
    expect(await pushed).toBe(true);
    expect(texts(bench)).toEqual(["before", "missed 1", "missed 2", "live"]);
  });

  it("opens its sockets again within 30 seconds after revoked tokens are valid again", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench(sockets, { context: { clock } });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms && bench.channel.health().state !== "ready"; passed += 500) {
        clock.advance(500);
        await delay(10);
      }
    };
    bench.fakeServer.revoke();
    bench.fakeServer.sockets.drop();
    await until(() => bench.channel.health().state === "down");
    await pass(120_000);
    expect(bench.channel.health()).toMatchObject({ state: "down" });
    bench.fakeServer.restore();
    await pass(31_000);
    // The clock stands still while the connection is made.
    await until(() => bench.channel.health().state === "ready");
  });

  it("reads all missed messages, even if they span several pages", async () => {
    await using bench = await openBench(sockets);
    await bench.fakeServer.pushEvent(textMessage("before"));
    bench.fakeServer.sockets.drop();
    const meanwhile = Array.from({ length: 450 }, (_, index) => `word ${index}`);
    for (const text of meanwhile) bench.fakeServer.plant({ channel: "D_DIRECT", text });
    await until(() => texts(bench).length === 451);
    expect(texts(bench)).toEqual(["before", ...meanwhile]);
  });

  it("detects sockets that are open but dead", async () => {
    await using bench = await openBench(sockets);
    await bench.fakeServer.pushEvent(textMessage("before"));
    bench.fakeServer.sockets.freeze();
    expect(bench.fakeServer.sockets.count()).toBe(0);
    bench.fakeServer.plant({ channel: "D_DIRECT", text: "unheard" });
    await until(() => bench.fakeServer.sockets.count() === 2);
    await until(() => texts(bench).length === 2);
    expect(texts(bench)).toEqual(["before", "unheard"]);
  });

  it("keeps reconnecting and reports `down` while Slack is unreachable", async () => {
    await using bench = await openBench(sockets);
    bench.fakeServer.fail({ kind: "status", method: "apps.connections.open", times: 4 });
    bench.fakeServer.sockets.drop();
    await until(() => bench.channel.health().state === "down");
    expect(bench.channel.health()).toMatchObject({
      reason: "no connection to Slack",
      retryAt: expect.any(Number),
    });
    await until(() => bench.channel.health().state === "ready");
  });

  it("survives malformed frames", async () => {
    await using bench = await openBench(sockets);
    for (const frame of [
      "",
      "{",
      "[]",
      "null",
      "{}",
      '{"type":"events_api"}',
      '{"type":"events_api","payload":{}}',
    ])
      bench.fakeServer.sockets.send(frame);
    bench.fakeServer.sockets.send('{"type":"interactive","envelope_id":"e","payload":[1]}');
    expect(await bench.fakeServer.pushEvent(textMessage("still here"))).toBe(true);
    expect(texts(bench)).toEqual(["still here"]);
  });

  it("fails to start with wrong tokens and closes all sockets on stop", async () => {
    await expect(openBench({ ...sockets, botToken: "xoxb-wrong" })).rejects.toMatchObject({
      code: "auth",
      scope: "account",
      settings: ["botToken"],
    });
    await expect(openBench({ ...sockets, appToken: "xapp-wrong" })).rejects.toMatchObject({
      code: "auth",
      scope: "account",
      settings: ["appToken"],
    });
    const bench = await openBench(sockets);
    await bench.channel.stop({ drainMs: 0 });
    await until(() => bench.fakeServer.sockets.count() === 0);
    await bench[Symbol.asyncDispose]();
  });
});
