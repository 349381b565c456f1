import { setTimeout as delay } from "node:timers/promises";
import { type Clock, createInMemoryState, systemClock } from "@signalbox/channel";
import { createAdjustableClock } from "@signalbox/channel/testkit";
import { describe, expect, it } from "vitest";
import { type Bench, bot, channelId, never, openBench, until, zhang } from "./harness.ts";

function say(bench: Bench, content: string, more: { readonly id?: string } = {}): number {
  return bench.fakeServer.say({ channelId, authorId: zhang, content, ...more }).sequence ?? 0;
}

function textsOf(bench: Bench): string[] {
  return bench.events.flatMap((event) => (event.type === "message" ? [event.text] : []));
}

describe("the session", () => {
  it("resumes after a lost connection, with missed events and no duplicates", async () => {
    await using bench = await openBench();
    await bench.fakeServer.acknowledged(say(bench, "before"));
    bench.fakeServer.gateway.drop();
    say(bench, "meanwhile");
    await until(() => textsOf(bench).length === 2);
    await bench.fakeServer.acknowledged(say(bench, "after"));
    expect(textsOf(bench)).toEqual(["before", "meanwhile", "after"]);
    expect([bench.fakeServer.gateway.identifies, bench.fakeServer.gateway.resumes]).toEqual([1, 1]);
    expect(bench.channel.health()).toEqual({ state: "ready" });
  });

  it.each([
    ["the line breaks", (bench: Bench) => bench.fakeServer.gateway.drop()],
    ["Discord asks for it", (bench: Bench) => bench.fakeServer.gateway.askToReconnect()],
    ["an unknown error ends it", (bench: Bench) => bench.fakeServer.gateway.drop(4000)],
    ["Discord goes away", (bench: Bench) => bench.fakeServer.gateway.drop(1001)],
  ])("is taken up again when %s", async (_, end) => {
    await using bench = await openBench();
    end(bench);
    say(bench, "meanwhile");
    await until(() => bench.fakeServer.gateway.resumes === 1);
    await until(() => textsOf(bench).length === 1 && bench.channel.health().state === "ready");
    expect(bench.fakeServer.gateway.identifies).toBe(1);
  });

  it("is replaced if Discord ended it, and channels are read for missed messages", async () => {
    await using bench = await openBench();
    await bench.fakeServer.acknowledged(say(bench, "before"));
    bench.fakeServer.gateway.invalidate();
    bench.fakeServer.plant({ channelId, authorId: bot.id, content: "the bot's own" });
    bench.fakeServer.plant({ channelId, authorId: zhang, content: "meanwhile" });
    await until(() => textsOf(bench).length === 2);
    expect(textsOf(bench)).toEqual(["before", "meanwhile"]);
    // Roles are added for routing, because Discord's list leaves them out.
    expect(bench.events[1]).toMatchObject({ sender: { roles: ["7101"] }, conversation: { guildId: "7000" } });
    expect(bench.fakeServer.gateway.identifies).toBe(2);
  });

  it("is replaced, and live messages are emitted after the missed ones of their channel", async () => {
    await using bench = await openBench();
    await bench.fakeServer.acknowledged(say(bench, "before"));
    const reads = Promise.withResolvers<void>();
    bench.fakeServer.fail({ kind: "hold", method: "GET", until: reads.promise, times: 10 });
    bench.fakeServer.gateway.invalidate();
    for (const content of ["missed 1", "missed 2"])
      bench.fakeServer.plant({ channelId, authorId: zhang, content });
    await until(() => bench.fakeServer.gateway.identifies === 2);
    say(bench, "live");
    await until(() =>
      bench.fakeServer.requests.some(({ path }) => path.includes(`/channels/${channelId}/messages`)),
    );
    expect(textsOf(bench)).toEqual(["before"]);
    reads.resolve();
    await until(() => textsOf(bench).length >= 4);
    expect([...new Set(textsOf(bench))]).toEqual(["before", "missed 1", "missed 2", "live"]);
  });

  it("is replaced, and all pages of missed messages are read", async () => {
    await using bench = await openBench();
    await bench.fakeServer.acknowledged(say(bench, "before"));
    bench.fakeServer.gateway.invalidate();
    const meanwhile = Array.from({ length: 250 }, (_, index) => `word ${index}`);
    for (const content of meanwhile) bench.fakeServer.plant({ channelId, authorId: zhang, content });
    await until(() => textsOf(bench).length === 251);
    expect(textsOf(bench)).toEqual(["before", ...meanwhile]);
  });

  it("is replaced, and the roles of each author are looked up once, retrying until known", async () => {
    await using bench = await openBench();
    await bench.fakeServer.acknowledged(say(bench, "before"));
    bench.fakeServer.fail({ kind: "status", status: 503, path: `/members/${zhang}`, times: 1 });
    bench.fakeServer.gateway.invalidate();
    for (const content of ["one", "two", "three"])
      bench.fakeServer.plant({ channelId, authorId: zhang, content });
    await until(() => textsOf(bench).length === 4);
    const roles = bench.events.map(({ sender }) => sender.roles);
    expect(roles).toEqual(Array(4).fill(["7101"]));
    const asked = bench.fakeServer.requests.filter(({ path }) => path.endsWith(`/members/${zhang}`));
    expect(asked).toHaveLength(2);
  });

  it("continues if it cannot be stored, and is stored as soon as possible", async () => {
    const kept = createInMemoryState();
    let isFull = true;
    const state = {
      ...kept,
      set: (...entry: Parameters<typeof kept.set>) =>
        isFull ? Promise.reject(new Error("disk full")) : kept.set(...entry),
    };
    await using first = await openBench({ context: { state } });
    isFull = false;
    await first.fakeServer.acknowledged(say(first, "before"));
    await first.channel.stop({ drainMs: 1_000 });
    say(first, "while it was down");
    await using second = await openBench({ context: { state }, fakeServer: first.fakeServer });
    await until(() => textsOf(second).length > 0);
    expect(textsOf(second)).toEqual(["while it was down"]);
  });

  it("survives a restart: the next process receives the events from in between", async () => {
    const state = createInMemoryState();
    await using first = await openBench({ context: { state } });
    await first.fakeServer.acknowledged(say(first, "before"));
    await first.channel.stop({ drainMs: 1_000 });
    say(first, "while it was down");
    await using second = await openBench({ context: { state }, fakeServer: first.fakeServer });
    await until(() => textsOf(second).length > 0);
    expect(textsOf(second)).toEqual(["while it was down"]);
    expect([first.fakeServer.gateway.identifies, first.fakeServer.gateway.resumes]).toEqual([1, 1]);
  });

  it("is replaced at once if it ended before the start; a first start reads no history", async () => {
    const state = createInMemoryState();
    await using first = await openBench({ context: { state } });
    first.fakeServer.plant({ channelId, authorId: zhang, content: "long before" });
    await first.fakeServer.acknowledged(say(first, "before"));
    expect(textsOf(first)).toEqual(["before"]);
    await first.channel.stop({ drainMs: 1_000 });
    first.fakeServer.gateway.invalidate();
    first.fakeServer.plant({ channelId, authorId: zhang, content: "while it was down" });
    await using second = await openBench({ context: { state }, fakeServer: first.fakeServer });
    expect(second.channel.health()).toEqual({ state: "ready" });
    await until(() => textsOf(second).includes("while it was down"));
  });

  it("closes a connection that was being opened when the account stopped", async () => {
    await using bench = await openBench();
    const { gateway } = bench.fakeServer;
    const held = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    gateway.opening = () => {
      asked.resolve();
      return held.promise;
    };
    gateway.drop();
    await asked.promise;
    await bench.channel.stop({ drainMs: 1_000 });
    expect(gateway.open()).toBe(0);
    held.resolve();
    await until(() => gateway.opened === 2 && gateway.open() === 0);
  });

  it("is dropped if Discord neither resumes nor ends it", async () => {
    const hurried: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => systemClock.delay(ms === 10_000 ? 100 : ms, signal),
    };
    await using bench = await openBench({ context: { clock: hurried } });
    await bench.fakeServer.acknowledged(say(bench, "before"));
    bench.fakeServer.gateway.ignoresResume = true;
    bench.fakeServer.gateway.drop();
    bench.fakeServer.plant({ channelId, authorId: zhang, content: "meanwhile" });
    await until(() => textsOf(bench).length === 2);
    expect(bench.fakeServer.gateway.identifies).toBe(2);
  });

  it("is kept while Discord is unreachable", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/gateway/bot", times: 2 });
    bench.fakeServer.gateway.drop();
    say(bench, "meanwhile");
    await until(() => textsOf(bench).length === 1);
    expect([bench.fakeServer.gateway.identifies, bench.fakeServer.gateway.resumes]).toEqual([1, 1]);
  });

  it("belongs to a bot: another bot under the same account starts fresh", async () => {
    const state = createInMemoryState();
    await using first = await openBench({ context: { state } });
    await first.fakeServer.acknowledged(say(first, "before"));
    await first.channel.stop({ drainMs: 1_000 });
    const token = `${Buffer.from("1001").toString("base64")}.made-up.secret-of-another`;
    const other = { id: "1001", username: "another" };
    await using second = await openBench({
      context: { state },
      config: { token },
      discord: { token, bot: other },
    });
    expect([second.fakeServer.gateway.identifies, second.fakeServer.gateway.resumes]).toEqual([1, 0]);
    await second.fakeServer.acknowledged(say(second, "hello"));
    expect(textsOf(second)).toEqual(["hello"]);
  });
});

describe("accepted events", () => {
  it("advance the sequence only up to the first unaccepted one", async () => {
    await using bench = await openBench();
    const gate = Promise.withResolvers<"accepted">();
    const seen: string[] = [];
    bench.onEmit = async (event) => {
      if (event.type === "message") seen.push(event.text);
      return event.type === "message" && event.text === "slow" ? gate.promise : "accepted";
    };
    const slow = say(bench, "slow");
    const quick = say(bench, "quick");
    await until(() => seen.length === 2);
    for (let times = 0; times < 5; times += 1)
      expect(await bench.fakeServer.gateway.heartbeat()).toBeLessThan(slow);
    gate.resolve("accepted");
    expect(await bench.fakeServer.acknowledged(quick)).toBe(true);
  });

  it("are redelivered in order after a rejection, with nothing accepted in between", async () => {
    await using bench = await openBench();
    const taken: string[] = [];
    let isFull = true;
    bench.onEmit = async (event) => {
      if (event.type !== "message" || isFull) return "rejected";
      if (taken.includes(event.text)) return "duplicate";
      taken.push(event.text);
      return "accepted";
    };
    for (const text of ["one", "two", "three"]) say(bench, text);
    await until(() => bench.channel.health().state === "down");
    isFull = false;
    await until(() => taken.length === 3);
    expect(taken).toEqual(["one", "two", "three"]);
    expect(bench.logged.join("\n")).toContain("the host rejected it");
  });
});

describe("a stop", () => {
  it("releases everything once all work has ended", async () => {
    const waits = new Set<number>();
    const counted: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => {
        waits.add(ms);
        return systemClock.delay(ms, signal).finally(() => waits.delete(ms));
      },
    };
    await using bench = await openBench({ context: { clock: counted } });
    await bench.channel.stop({ drainMs: 60_000 });
    await until(() => waits.size === 0);
  });
});

describe("an event that cannot be read", () => {
  it("is skipped after three attempts, so that later events arrive", async () => {
    const cache = { get: () => Promise.reject(new Error("broken")), set: async () => {} };
    await using bench = await openBench({ context: { cache } });
    say(bench, "in a channel, which has to be looked up");
    const { id: direct } = bench.fakeServer.directWith(zhang);
    bench.fakeServer.say({ channelId: direct, authorId: zhang, content: "directly" });
    await until(() => textsOf(bench).length === 1);
    expect(textsOf(bench)).toEqual(["directly"]);
    expect(bench.logged.filter((line) => line.includes("was not accepted"))).toHaveLength(2);
    expect(bench.logged.join("\n")).toContain("skipped an unreadable event");
  });

  it("does not block later events even if skipping it cannot be stored at first", async () => {
    const cache = { get: () => Promise.reject(new Error("broken")), set: async () => {} };
    const kept = createInMemoryState();
    const quiet = () => {};
    let isFull = false;
    const logger = {
      debug: quiet,
      info: quiet,
      warn: quiet,
      error: () => {
        isFull = true;
      },
    };
    const state = {
      ...kept,
      set(...entry: Parameters<typeof kept.set>) {
        if (!isFull) return kept.set(...entry);
        isFull = false;
        return Promise.reject(new Error("disk full"));
      },
    };
    let hours = 0;
    const clock: Clock = { now: () => 3_600_000 * hours++, delay: systemClock.delay };
    await using bench = await openBench({
      context: { cache, state, clock, logger },
      config: { registerCommands: false },
    });
    say(bench, "in a channel, which has to be looked up");
    const { id: direct } = bench.fakeServer.directWith(zhang);
    bench.fakeServer.say({ channelId: direct, authorId: zhang, content: "directly" });
    await until(() => textsOf(bench).length === 1);
  });
});

describe("a connection", () => {
  it("is dropped within 25 seconds if it is open but dead", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    bench.fakeServer.gateway.freeze();
    say(bench, "meanwhile");
    // The interval of the probe, its deadline, and the first reconnect pause.
    for (const ms of [15_000, 10_000, 1_000]) {
      await until(() => clock.pending > 0);
      clock.advance(ms);
    }
    await until(() => textsOf(bench).length === 1);
    expect(bench.fakeServer.gateway.resumes).toBe(1);
  });

  it("times out if it is never established, and the account reports it", async () => {
    const hurried: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => systemClock.delay(ms === 20_000 ? 100 : ms, signal),
    };
    await using bench = await openBench({ context: { clock: hurried }, start: false });
    bench.fakeServer.gateway.isSilent = true;
    await expect(bench.channel.start(never)).rejects.toMatchObject({
      code: "transient",
      scope: "account",
      message: expect.stringContaining("within 20000 ms"),
    });
  });

  it("is reported as `down` while lost and recovers by itself", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/gateway/bot", times: 1 });
    bench.fakeServer.gateway.drop();
    await until(() => bench.channel.health().state === "down");
    expect(bench.channel.health()).toMatchObject({ retryAt: expect.any(Number) });
    await until(() => bench.channel.health().state === "ready");
  });

  it.each([
    ["a token that Discord does not know", {}, "auth", /the token|401/i, "token"],
    [
      "intents that are not turned on",
      { mayReadContent: false },
      "permission",
      /Message Content Intent/,
      "messageContent",
    ],
  ])("is not made with %s, and the error says what to mend", async (_, discord, code, says, setting) => {
    await using bench = await openBench({ discord, start: false });
    if (code === "auth") bench.fakeServer.revoke();
    const starting = bench.channel.start(never);
    await expect(starting).rejects.toMatchObject({
      code,
      scope: "account",
      message: expect.stringMatching(says),
      settings: [setting],
    });
  });

  it("is opened again within 30 seconds after a rejected token is valid again, and the reason is reported", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    bench.fakeServer.revoke();
    bench.fakeServer.gateway.drop();
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms && bench.channel.health().state !== "ready"; passed += 500) {
        clock.advance(500);
        await delay(10);
      }
    };
    await until(() => bench.channel.health().state === "down");
    await pass(120_000);
    const reason = expect.stringContaining("401");
    expect(bench.channel.health()).toMatchObject({ state: "down", reason });
    bench.fakeServer.restore();
    await pass(31_000);
    // The clock stands still while the connection is made.
    await until(() => bench.channel.health().state === "ready");
  });

  it.each([1006, 4001])(
    "is opened again within 30 seconds after many closes with %i in a row",
    async (code) => {
      const clock = createAdjustableClock();
      await using bench = await openBench({ context: { clock } });
      for (let round = 0; round < 10; round += 1) {
        bench.fakeServer.gateway.drop(code === 1006 ? undefined : code);
        await until(() => bench.channel.health().state === "down");
        clock.advance(30_000);
        await until(() => bench.channel.health().state === "ready");
      }
      say(bench, "still there?");
      await until(() => textsOf(bench).length === 1);
    },
  );

  it("spreads the last sessions of a day, which Discord limits", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    const { gateway } = bench.fakeServer;
    gateway.identifiesLeft = 100;
    gateway.invalidate();
    await until(() => bench.channel.health().state === "down");
    clock.advance(30_000);
    await expect
      .poll(() => bench.channel.health())
      .toMatchObject({
        state: "down",
        reason: expect.stringContaining("only 100 sessions are left"),
      });
    expect(gateway.identifies).toBe(1);
    clock.advance(24 * 3_600_000);
    await until(() => bench.channel.health().state === "ready");
    expect(gateway.identifies).toBe(2);
  });

  it("does not request message content if messageContent is off", async () => {
    await using bench = await openBench({
      config: { messageContent: false },
      discord: { mayReadContent: false },
    });
    say(bench, "not for you");
    const last = say(bench, `<@${bot.id}> for you`);
    await bench.fakeServer.acknowledged(last);
    expect(bench.events).toMatchObject([
      { text: "", addressed: "none" },
      { text: "for you", addressed: "mention" },
    ]);
  });

  it("waits if the daily session limit is used up", async () => {
    await using bench = await openBench({ start: false });
    bench.fakeServer.gateway.identifiesLeft = 0;
    await expect(bench.channel.start(never)).rejects.toMatchObject({
      message: expect.stringMatching(/sessions/),
    });
    expect(bench.fakeServer.gateway.identifies).toBe(0);
  });
});
