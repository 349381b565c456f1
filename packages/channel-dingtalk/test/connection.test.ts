import { setTimeout as delay } from "node:timers/promises";
import type { EmitResult } from "@signalbox/channel";
import { textMessage } from "@signalbox/testkit/dingtalk";
import { describe, expect, it } from "vitest";
import { type Bench, createAdjustableClock, never, openBench } from "./harness.ts";

function texts({ events }: Bench): string[] {
  return events.flatMap((event) => (event.type === "message" ? [event.text] : []));
}

async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds).toBe(true);
}

function openings({ fakeServer }: Bench): number {
  return fakeServer.requests.filter(({ path }) => path === "/v1.0/gateway/connections/open").length;
}

describe("a frame", () => {
  it("that was not acknowledged comes again, and causes one event", async () => {
    await using bench = await openBench({ redeliverMs: 100 });
    const answers: EmitResult[] = ["rejected", "rejected"];
    bench.onEmit = async (event) => {
      const answer = answers.shift() ?? "accepted";
      if (answer === "accepted") bench.events.push(event);
      return answer;
    };
    expect(await bench.fakeServer.stream.push(textMessage("once"), { messageId: "f" })).toBe(true);
    expect(bench.fakeServer.stream.deliveries("f")).toBe(3);
    expect(texts(bench)).toEqual(["once"]);
  });

  it("that arrives again while it is stored has the same event id", async () => {
    await using bench = await openBench({ redeliverMs: 100 });
    const stored = Promise.withResolvers<EmitResult>();
    const ids: string[] = [];
    bench.onEmit = (event) => {
      ids.push(event.eventId);
      return ids.length === 1 ? stored.promise : Promise.resolve("duplicate");
    };
    expect(await bench.fakeServer.stream.push(textMessage("slow"))).toBe(true);
    stored.resolve("accepted");
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  it("that is malformed is skipped", async () => {
    await using bench = await openBench();
    for (const frame of [
      "",
      "{",
      "[]",
      "null",
      "{}",
      '{"type":"CALLBACK"}',
      '{"type":"CALLBACK","headers":[]}',
    ])
      bench.fakeServer.stream.send(frame);
    bench.fakeServer.stream.send(`{"type":"CALLBACK","x":"${"x".repeat(1_100_000)}"}`);
    expect(await bench.fakeServer.stream.push("not an object")).toBe(true);
    expect(await bench.fakeServer.stream.push(textMessage("still here"))).toBe(true);
    expect(texts(bench)).toEqual(["still here"]);
  });

  it("of the system is answered with its own data", async () => {
    await using bench = await openBench();
    expect(await bench.fakeServer.stream.ping()).toBe(true);
  });
});

describe("a connection", () => {
  it("is replaced before it is closed when DingTalk announces its end", async () => {
    await using bench = await openBench({ lingerMs: 60_000 });
    const { stream } = bench.fakeServer;
    const stored = Promise.withResolvers<EmitResult>();
    bench.onEmit = () => stored.promise;
    const pushed = stream.push(textMessage("in flight"));
    stream.disconnect();
    await until(() => stream.count() === 1);
    expect(stream.open()).toBe(2);
    expect(bench.channel.health()).toEqual({ state: "ready" });
    // What arrived on the old connection is acknowledged on it.
    stored.resolve("accepted");
    expect(await pushed).toBe(true);
    bench.onEmit = undefined;
    expect(await stream.push(textMessage("after"))).toBe(true);
    expect(bench.logged.filter((line) => line.includes("reconnected"))).toEqual([]);
  });

  it("that was replaced is closed after ten seconds", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ lingerMs: 60_000, context: { clock } });
    bench.fakeServer.stream.disconnect();
    await until(() => bench.fakeServer.stream.open() === 2);
    await until(() => {
      clock.advance(1_000);
      return bench.fakeServer.stream.open() === 1;
    });
    expect(bench.fakeServer.stream.count()).toBe(1);
  });

  it("is replaced after 60 seconds of silence, although it answers pings", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    const { stream } = bench.fakeServer;
    expect(await stream.push(textMessage("before"))).toBe(true);
    stream.silence();
    expect(stream.count()).toBe(0);
    clock.advance(59_000);
    await delay(50);
    expect(stream.count()).toBe(0);
    clock.advance(1_100);
    await until(() => stream.count() === 1);
    expect(await stream.push(textMessage("after"))).toBe(true);
    expect(texts(bench)).toEqual(["before", "after"]);
  });

  it("without any frame is replaced ever more rarely, and again after 60 seconds once there was one", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    const replacedAfter = async (): Promise<number> => {
      const [count, since] = [openings(bench), clock.now()];
      while (openings(bench) === count) {
        clock.advance(5_000);
        await delay(5);
      }
      await until(() => bench.fakeServer.stream.count() > 0);
      await delay(50);
      return Math.round((clock.now() - since) / 60_000);
    };
    const minutes: number[] = [];
    for (let count = 0; count < 3; count += 1) minutes.push(await replacedAfter());
    expect(minutes).toEqual([1, 2, 4]);
    while (!(await bench.fakeServer.stream.ping()));
    bench.fakeServer.stream.disconnect();
    await until(() => bench.fakeServer.stream.count() === 1);
    await delay(50);
    expect(await replacedAfter()).toBe(1);
  });

  it("is opened again after it was lost, with growing pauses of at most 30 seconds", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ context: { clock } });
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/gateway/connections/open", times: 8 });
    bench.fakeServer.stream.drop();
    await until(() => bench.channel.health().state === "down");
    const since = clock.now();
    while (bench.channel.health().state !== "ready") {
      clock.advance(1_000);
      await delay(5);
    }
    const passed = clock.now() - since;
    expect(passed).toBeGreaterThan(30_000);
    expect(passed).toBeLessThan(8 * 31_000);
    expect(await bench.fakeServer.stream.push(textMessage("back"))).toBe(true);
  });

  it("is lost if DingTalk announces its end and no other one can be opened", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/gateway/connections/open" });
    bench.fakeServer.stream.disconnect();
    await until(() => bench.channel.health().state === "down");
    await until(() => bench.channel.health().state === "ready");
    expect(await bench.fakeServer.stream.push(textMessage("back"))).toBe(true);
  });

  it("is refused with wrong credentials", async () => {
    const starting = openBench({ config: { clientSecret: "another-secret-0123456789" } });
    await expect(starting).rejects.toMatchObject({
      code: "auth",
      scope: "account",
      settings: ["clientId", "clientSecret"],
    });
  });

  it.each(["wss://evil.test/connect", "ws://169.254.169.254/connect", "https://127.0.0.1/connect", ""])(
    "is not opened to another host: %s",
    async (endpoint) => {
      await using bench = await openBench({ start: false });
      bench.fakeServer.answerAt("/v1.0/gateway/connections/open", () =>
        Response.json({ endpoint, ticket: "t" }),
      );
      await expect(bench.channel.start(never)).rejects.toMatchObject({ code: "transient" });
    },
  );

  it("is closed by stop, also while it is being replaced", async () => {
    const bench = await openBench({ lingerMs: 60_000 });
    bench.fakeServer.stream.disconnect();
    await until(() => bench.fakeServer.stream.count() === 1);
    await bench.channel.stop({ drainMs: 0 });
    await until(() => bench.fakeServer.stream.open() === 0);
    await bench[Symbol.asyncDispose]();
  });
});
