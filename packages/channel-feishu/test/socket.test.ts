import { createInMemoryCache, createInMemoryState, systemClock } from "@signalbox/channel";
import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { feishu } from "../src/index.ts";
import { type Bench, credentials, never, openBench } from "./harness.ts";

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

describe("the long connection, through the real SDK", () => {
  it("brings events in, in one piece or several, and answers once they are taken", async () => {
    await using bench = await openBench({ transport: "socket" });
    expect(bench.channel.health()).toEqual({ state: "ready" });
    expect(await bench.fakeServer.pushEvent(textMessage("hi", { eventId: "ev_1" }))).toBe(200);
    expect(
      await bench.fakeServer.pushEvent(textMessage("很长的消息".repeat(50), { eventId: "ev_2" }), 5),
    ).toBe(200);
    expect(await bench.fakeServer.pushEvent(textMessage("hi", { eventId: "ev_1" }))).toBe(200);
    expect(bench.events.map((event) => event.eventId)).toEqual(["ev_1", "ev_2"]);
    bench.onEmit = async () => "rejected";
    expect(await bench.fakeServer.pushEvent(textMessage("hi", { eventId: "ev_3" }))).toBe(500);
    expect((await bench.post(textMessage("by webhook"))).status).toBe(404);
  });

  it("connects again by itself and reads what was said meanwhile, once", async () => {
    await using bench = await openBench({ transport: "socket" });
    const ask = (text: string, messageId: string) =>
      groupMention(
        text,
        { openId: "ou_bot", name: "Signalbox" },
        { messageId, chatId: "oc_g", eventId: `ev_${messageId}` },
      );
    await bench.fakeServer.pushEvent(ask("before", "om_1"));
    const ids = new Set<string>();
    const texts: string[] = [];
    bench.onEmit = async (event) => {
      if (event.type !== "message" || ids.has(event.messageId)) return "duplicate";
      ids.add(event.messageId);
      texts.push(`${event.addressed} ${event.text}`);
      return "accepted";
    };
    ids.add("om_1");
    bench.fakeServer.dropConnections();
    await bench.fakeServer.pushEvent(ask("meanwhile", "om_2")).catch(() => undefined);
    const answer = { parts: [{ type: "text" as const, text: "the bot's own" }] };
    await bench.channel.send({ id: "oc_g" }, answer, { idempotencyKey: "k", signal: never });
    await until(() => texts.length > 0);
    expect(bench.channel.health()).toEqual({ state: "ready" });
    expect(await bench.fakeServer.pushEvent(ask("meanwhile", "om_2"))).toBe(200);
    expect(await bench.fakeServer.pushEvent(ask("after", "om_3"))).toBe(200);
    expect(texts).toEqual(["mention meanwhile", "mention after"]);
  });

  it("reads after a restart what was said while the process was down, and nothing on a first start", async () => {
    const state = createInMemoryState();
    const ask = (text: string, messageId: string) =>
      textMessage(text, { messageId, chatId: "oc_p", eventId: `ev_${messageId}` });
    const plant = (bench: Bench, text: string, messageId: string) =>
      bench.fakeServer.plant({
        messageId,
        chatId: "oc_p",
        msgType: "text",
        content: JSON.stringify({ text }),
        senderId: "ou_sender",
        senderType: "user",
      });
    {
      await using before = await openBench({ transport: "socket" }, { context: { state } });
      await before.fakeServer.pushEvent(ask("before", "om_1"));
      expect(before.events).toHaveLength(1);
    }
    {
      await using after = await openBench({ transport: "socket" }, { context: { state }, start: false });
      plant(after, "meanwhile", "om_2");
      await after.channel.start(never);
      await until(() => after.events.length > 0);
      expect(after.events).toMatchObject([{ messageId: "om_2", text: "meanwhile" }]);
    }
    const words = Array.from({ length: 120 }, (_, index) => `om_word_${index}`);
    {
      await using after = await openBench({ transport: "socket" }, { context: { state }, start: false });
      for (const word of words) plant(after, "one of many", word);
      await after.channel.start(never);
      // More than Feishu lists at once.
      await until(() => after.events.length === words.length);
      expect(after.events.map((event) => event.type === "message" && event.messageId)).toEqual(words);
    }
    await using fresh = await openBench({ transport: "socket" }, { start: false });
    plant(fresh, "long ago", "om_3");
    await fresh.channel.start(never);
    await fresh.fakeServer.pushEvent(ask("now", "om_4"));
    expect(fresh.events).toMatchObject([{ messageId: "om_4" }]);
  });

  it("notices a dead connection within 30 seconds, however rarely Feishu asks for pings", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const opening = openBench({ transport: "socket" }, { pingSeconds: 120 });
    await using bench = await opening;
    // The answer to each ping repeats what Feishu asks for.
    for (let round = 0; round < 3; round += 1) {
      await bench.fakeServer.pushEvent(textMessage("hello", { messageId: `om_${round}` }));
      vi.advanceTimersByTime(15_000);
    }
    await bench.fakeServer.pushEvent(textMessage("hello", { messageId: "om_last" }));
    bench.fakeServer.freezeConnections();
    vi.advanceTimersByTime(15_000);
    vi.advanceTimersByTime(10_000);
    vi.useRealTimers();
    await expect.poll(() => bench.channel.health().state).toBe("down");
    await expect.poll(() => bench.fakeServer.connections()).toBe(1);
  });

  it("emits live messages after the missed ones of their chat", async () => {
    await using bench = await openBench({ transport: "socket" });
    const say = (text: string, messageId: string) =>
      textMessage(text, { messageId, chatId: "oc_p", eventId: `ev_${messageId}` });
    await bench.fakeServer.pushEvent(say("before", "om_1"));
    const reads = Promise.withResolvers<void>();
    bench.fakeServer.fail({ kind: "hold", method: "GET", until: reads.promise });
    bench.fakeServer.dropConnections();
    for (const messageId of ["om_2", "om_3"])
      bench.fakeServer.plant({
        messageId,
        chatId: "oc_p",
        msgType: "text",
        content: JSON.stringify({ text: `missed ${messageId}` }),
        senderId: "ou_sender",
        senderType: "user",
      });
    const opened = () =>
      bench.fakeServer.requests.filter(({ path }) => path.startsWith("/callback/ws/endpoint")).length;
    await until(() => opened() >= 2 && bench.fakeServer.connections() === 1);
    const pushed = bench.fakeServer.pushEvent(say("live", "om_4"));
    await until(() => bench.fakeServer.requests.some(({ path }) => path.includes("container_id=oc_p")));
    expect(bench.events).toHaveLength(1);
    reads.resolve();
    expect(await pushed).toBe(200);
    expect(bench.events.map((event) => event.type === "message" && event.messageId)).toEqual([
      "om_1",
      "om_2",
      "om_3",
      "om_4",
    ]);
  });

  it("goes on trying, and says so, while Feishu cannot be reached", async () => {
    await using bench = await openBench({ transport: "socket" });
    bench.fakeServer.fail({ kind: "status", path: "/callback/ws/endpoint" });
    bench.fakeServer.dropConnections();
    await until(() => bench.channel.health().state === "down");
    expect(bench.channel.health()).toMatchObject({
      reason: "no connection to Feishu",
      retryAt: expect.any(Number),
    });
    await until(() => bench.channel.health().state === "ready");
    expect(bench.fakeServer.connections()).toBe(1);
  });

  it("does not start with wrong credentials, and leaves no connection when it stops", async () => {
    await expect(openBench({ transport: "socket", appSecret: "wrong" })).rejects.toMatchObject({
      code: "auth",
      settings: ["appId", "appSecret"],
      scope: "account",
      platformCode: "514",
    });
    const bench = await openBench({ transport: "socket" });
    expect(bench.fakeServer.connections()).toBe(1);
    await bench.channel.stop({ drainMs: 0 });
    await until(() => bench.fakeServer.connections() === 0);
    await bench[Symbol.asyncDispose]();
  });

  it("ends a start that is given up", async () => {
    const quiet = () => {};
    const asked = Promise.withResolvers<void>();
    const channel = await feishu.create({
      config: {
        ...credentials,
        transport: "socket",
        domain: "feishu",
        streams: true,
        readEdits: true,
        baseUrl: "http://127.0.0.1:9",
      },
      account: "main",
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      emit: async () => "accepted",
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          asked.resolve();
          init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
        }),
      clock: systemClock,
      cache: createInMemoryCache({ clock: systemClock }),
      state: createInMemoryState(),
      signal: never,
    });
    const controller = new AbortController();
    const starting = channel.start(controller.signal);
    await asked.promise;
    controller.abort();
    await expect(starting).rejects.toMatchObject({ code: "transient" });
    await channel.stop({ drainMs: 0 });
    expect(channel.health()).toEqual({ state: "stopped" });
  });

  it("needs an app id that Feishu's client takes, and no verification token", async () => {
    const settings = { appId: "cli_1", appSecret: "s", transport: "socket" };
    const { issues } = await feishu.config["~standard"].validate(settings);
    expect(issues).toMatchObject([{ path: ["appId"], message: expect.stringMatching(/^appId must be/) }]);
  });
});
