import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "@signalbox/channel";
import { openChannel } from "@signalbox/channel/testkit";
import { textMessage } from "@signalbox/testkit/wecom";
import { expect, it, onTestFinished } from "vitest";
import { wecom } from "../src/index.ts";
import { limits } from "../src/limits.ts";
import { never, openBench, secret, settingsFor, startServer } from "./harness.ts";

/** A clock whose waits of certain lengths end at once. */
function hurrying(...lengths: readonly number[]): Clock {
  return {
    now: Date.now,
    delay: (ms, signal) => delay(lengths.includes(ms) ? 1 : ms, undefined, { signal }),
  };
}

async function open(clock?: Clock) {
  const bench = await openBench({}, clock && { context: { clock } });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return bench;
}

it("reconnects if heartbeats are not acknowledged, and reports the gap", async () => {
  const { channel, fakeServer, events } = await open(hurrying(limits.heartbeatMs));
  fakeServer.freezeConnections();
  await expect.poll(() => channel.health().state).toBe("down");
  await expect.poll(() => channel.health().state).toBe("ready");
  fakeServer.pushMessage(textMessage("still there?"));
  await expect.poll(() => events.filter(({ type }) => type === "message")).toHaveLength(1);
  const [gap] = events.filter(({ type }) => type === "lifecycle");
  expect(gap).toMatchObject({ what: "gap", detail: { from: expect.any(Number), to: expect.any(Number) } });
});

it("reconnects after the connection is lost", async () => {
  const { channel, fakeServer, events } = await open();
  fakeServer.dropConnections();
  await expect.poll(() => channel.health().state).toBe("down");
  await expect.poll(() => channel.health().state).toBe("ready");
  await expect.poll(() => events.map(({ type }) => type)).toEqual(["lifecycle"]);
});

it("pauses after another program has connected as the same bot, and longer if that happens again", async () => {
  const pauses: number[] = [];
  let shift = 0;
  const now = () => Date.now() + shift;
  // Only the pauses of a displaced connection have such lengths.
  const isPause = (ms: number) => ms > limits.connectMs && ms !== limits.heartbeatMs;
  const clock: Clock = {
    now,
    async delay(ms, signal) {
      if (!isPause(ms)) return delay(ms, undefined, { signal });
      pauses.push(ms);
      shift += ms;
    },
  };
  const { channel, fakeServer, logged } = await open(clock);
  const message = { parts: [{ type: "text", text: "x" }] } as const;
  for (const round of [1, 2]) {
    await using other = await openChannel(wecom, settingsFor(fakeServer));
    const sending = channel.send({ type: "single", id: "zhangsan" }, message, {
      idempotencyKey: `k${round}`,
      signal: never,
    });
    await expect(sending).rejects.toMatchObject({ code: "transient" });
    expect(other.channel.health().state).toBe("ready");
    await expect.poll(() => pauses).toHaveLength(round);
    await expect.poll(() => channel.health().state).toBe("ready");
    await expect.poll(() => other.channel.health().state).toBe("down");
  }
  // The usual pause before an attempt counts towards them.
  const [first = 0, second = 0] = pauses;
  expect(first).toBeGreaterThan(limits.displacedMs - 5_000);
  expect(second).toBeGreaterThan(2 * limits.displacedMs - 5_000);
  expect(logged.join("\n")).toContain("another program has connected as this bot");
});

it("fails to start with a wrong secret, and names neither the secret nor a guess", async () => {
  const fakeServer = await startServer();
  onTestFinished(() => fakeServer.stop());
  const { channel, logged } = await openChannel(
    wecom,
    { ...settingsFor(fakeServer), secret: "a guess" },
    { start: false },
  );
  const error: unknown = await channel.start(new AbortController().signal).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: "auth",
    scope: "account",
    platformCode: "853000",
    settings: ["botId", "secret"],
  });
  expect(`${String(error)} ${logged.join(" ")}`).not.toMatch(new RegExp(`a guess|${secret}`));
  await channel.stop({ drainMs: 0 });
});

it("skips frames that it cannot read", async () => {
  const { fakeServer, events, logged } = await open();
  for (const text of ["", "{", "[]", "null", '{"cmd":"aibot_msg_callback"}', '{"headers":{"req_id":5}}'])
    fakeServer.sendText(text);
  for (const body of [{}, { msgid: 1 }, { msgid: "m", from: "x" }, { msgid: "m", from: { userid: "u" } }])
    fakeServer.sendText(JSON.stringify({ cmd: "aibot_msg_callback", headers: { req_id: "r" }, body }));
  fakeServer.pushMessage(textMessage("after"));
  await expect.poll(() => events).toMatchObject([{ type: "message", text: "after" }]);
  expect(logged.filter((line) => line.startsWith("skipped"))).toHaveLength(10);
});

it("keeps messages of one conversation in order while the host rejects the first one", async () => {
  const bench = await open(hurrying(1_000));
  let attempts = 0;
  bench.onEmit = async (event) => {
    attempts += 1;
    if (attempts === 1) return "rejected";
    bench.events.push(event);
    return "accepted";
  };
  for (const word of ["one", "two", "three"]) bench.fakeServer.pushMessage(textMessage(word));
  await expect
    .poll(() => bench.events.map((event) => ("text" in event ? event.text : "")))
    .toEqual(["one", "two", "three"]);
});

it("reports a gap after it has dropped messages that the host could not take", async () => {
  const bench = await open();
  const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
  bench.onEmit = async (event) => {
    await blocked;
    bench.events.push(event);
    return "accepted";
  };
  for (let count = 0; count < limits.maxWaiting + 5; count += 1)
    bench.fakeServer.pushMessage(textMessage(`word ${count}`));
  await expect.poll(() => bench.logged.filter((line) => line.startsWith("dropped"))).toHaveLength(5);
  release();
  await expect
    .poll(() => bench.events.filter(({ type }) => type === "message"))
    .toHaveLength(limits.maxWaiting);
  await expect.poll(() => bench.events.filter(({ type }) => type === "lifecycle")).toHaveLength(1);
});

it("starts in less than 30 ms and holds less than 2 MB", async () => {
  const fakeServer = await startServer();
  onTestFinished(() => fakeServer.stop());
  const times: number[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const before = process.memoryUsage().heapUsed;
    const begun = performance.now();
    await using _running = await openChannel(wecom, settingsFor(fakeServer));
    times.push(performance.now() - begun);
    sizes.push(process.memoryUsage().heapUsed - before);
  }
  expect(Math.min(...times)).toBeLessThan(30);
  expect(Math.min(...sizes)).toBeLessThan(2_000_000);
});
