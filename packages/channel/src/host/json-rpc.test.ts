import { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { superviseJsonRpc, systemClock } from "../index.ts";
import { expectChannelError } from "../testkit/index.ts";
import type { JsonRpcProcessOptions } from "./json-rpc.ts";

const program = fileURLToPath(new URL("../../test/json-rpc-program.ts", import.meta.url));
const { signal } = new AbortController();
const read = { what: "reading", write: false, signal };
const write = { what: "sending", write: true, signal };

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function start(options: Partial<JsonRpcProcessOptions> = {}) {
  const notified: string[] = [];
  const logged: string[] = [];
  const log = (message: string, fields?: unknown): void =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const rpc = superviseJsonRpc({
    name: "Mine",
    command: [process.execPath, "--no-warnings", program],
    clock: systemClock,
    logger: { debug: log, info: log, warn: log, error: log },
    timing: { pauseMs: 10, maxPauseMs: 20 },
    notified: (_, { text }) => void notified.push(String(text)),
    opened: async (opening, opened) =>
      void (await opening.call("subscribe", {}, { ...read, signal: opened })),
    ...options,
  });
  stops.push(() => rpc.stop());
  await rpc.start(signal);
  return { rpc, notified, logged };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("superviseJsonRpc", () => {
  it("calls the process, receives notifications and ignores lines that are not JSON", async () => {
    const { rpc, notified } = await start();
    expect(rpc.health()).toEqual({ state: "ready" });
    expect(await rpc.call("echo", { text: "你好\n" }, read)).toEqual({ text: "你好\n" });
    expect(notified).toEqual(["one", "two"]);
  });

  it("restarts a process that ended, and subscribes again", async () => {
    const { rpc, notified, logged } = await start();
    const dying = expectChannelError(
      rpc.call("die", {}, write),
      "A call to a process that ends",
      "unknown_outcome",
    );
    expect((await dying).message).toContain("Full Disk Access is missing");
    await until(() => notified.length === 4);
    await until(() => rpc.health().state === "ready");
    expect(await rpc.call("echo", { n: 1 }, read)).toEqual({ n: 1 });
    expect(logged.join("\n")).toContain("reconnected");
  });

  it("fails a read whose process ends, and calls without a process, as transient", async () => {
    const { rpc } = await start({ timing: { pauseMs: 60_000, maxPauseMs: 60_000 } });
    await expectChannelError(rpc.call("die", {}, read), "A read of a process that ends", "transient");
    await until(() => rpc.health().state === "down");
    await expectChannelError(rpc.call("echo", {}, write), "A call without a process", "transient");
  });

  it("fails a call without a response as unknown_outcome, by time limit and by signal", async () => {
    const { rpc } = await start();
    await expectChannelError(
      rpc.call("ignore", {}, { ...write, timeoutMs: 20 }),
      "A call over its time limit",
      "unknown_outcome",
    );
    const caller = new AbortController();
    const calling = rpc.call("ignore", {}, { ...write, signal: caller.signal });
    caller.abort();
    await expectChannelError(calling, "A call that was aborted", "unknown_outcome");
    await expectChannelError(
      rpc.call("echo", {}, { ...write, signal: AbortSignal.abort() }),
      "A call that was aborted before",
      "transient",
    );
  });

  it("fails a call with parameters that JSON cannot express as invalid, and continues", async () => {
    const { rpc } = await start();
    const error = await expectChannelError(
      rpc.call("echo", { n: 1n }, { ...write, timeoutMs: 20 }),
      "A call with a BigInt",
      "invalid",
    );
    expect(error.message).toBe("Mine: sending: the parameters cannot be written as JSON");
    expect(await rpc.call("echo", { n: 1 }, read)).toEqual({ n: 1 });
  });

  it("keeps a process that could not be sent a signal", async () => {
    const children: ChildProcess[] = [];
    const add = (message: unknown): void => {
      if (message instanceof Object && "process" in message && message.process instanceof ChildProcess)
        children.push(message.process);
    };
    subscribe("child_process", add);
    const { rpc, logged } = await start();
    unsubscribe("child_process", add);
    // Node.js emits this event if `kill` is not permitted.
    for (let n = 0; n < 2; n++)
      children[0]?.emit("error", Object.assign(new Error("kill EPERM"), { code: "EPERM" }));
    expect(await rpc.call("echo", { n: 1 }, read)).toEqual({ n: 1 });
    expect(rpc.health()).toEqual({ state: "ready" });
    expect(logged.join("\n")).toContain("EPERM");
  });

  it("lets the channel interpret error responses", async () => {
    const readError: JsonRpcProcessOptions["readError"] = () => ({
      code: "rate_limited",
      retryAfterMs: 3_000,
    });
    const { rpc } = await start({ readError });
    const refused = await expectChannelError(rpc.call("refuse", {}, write), "A refused call", "rate_limited");
    expect(refused).toMatchObject({
      message: "Mine: sending: rate limited",
      platformCode: "-5",
      retryAfterMs: 3_000,
    });
  });

  it("restarts a process that writes a line over the limit", async () => {
    const { rpc, notified } = await start({ maxLineBytes: 1_000 });
    await expectChannelError(
      rpc.call("long", { bytes: 1_001 }, write),
      "A call with a response that is too long",
      "unknown_outcome",
    );
    await until(() => notified.length === 4);
  });

  it("passes on no variables of the host but those that programs need", async () => {
    process.env["SECRET_OF_THE_HOST"] = "secret";
    const { rpc } = await start({ env: { OF_THE_CHANNEL: "1" } });
    const names = await rpc.call("environment", {}, read);
    delete process.env["SECRET_OF_THE_HOST"];
    expect(names).toContain("PATH");
    expect(names).toContain("OF_THE_CHANNEL");
    expect(names).not.toContain("SECRET_OF_THE_HOST");
  });

  it("reports a program that cannot be started", async () => {
    const failing = start({ command: ["no-such-program-anywhere"] });
    const error = await expectChannelError(failing, "Starting a missing program", "transient");
    expect(error.message).toBe("Mine: cannot start no-such-program-anywhere (ENOENT)");
  });

  it("ends the process when it is stopped", async () => {
    const pids: number[] = [];
    const { rpc } = await start({
      opened: async (opening, opened) => {
        const result = await opening.call("subscribe", {}, { ...read, signal: opened });
        if (typeof result === "object" && result !== null && "pid" in result) pids.push(Number(result.pid));
      },
    });
    rpc.stop();
    await until(() => {
      try {
        return !process.kill(pids[0] ?? 0, 0);
      } catch {
        return true;
      }
    });
    expect(rpc.health()).toEqual({ state: "stopped" });
  });
});
