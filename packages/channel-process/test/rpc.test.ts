import { MessageChannel } from "node:worker_threads";
import { ChannelError } from "@signalbox/channel";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../src/rpc.ts";

interface Greeter {
  greet(name: string): string;
}

function open(greet: (name: string, signal: AbortSignal) => unknown) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const invalid: string[] = [];
  const port = (end: typeof port1) => ({
    post: (message: unknown) => end.postMessage(message),
    onMessage: (listener: (message: unknown) => void) => void end.on("message", listener),
  });
  const rpc = connect<Greeter>(port(port1), {}, (reason) => invalid.push(reason));
  connect(port(port2), { greet }, () => {});
  return { rpc, invalid, post: (message: unknown) => port2.postMessage(message) };
}

it("runs concurrent calls and preserves every field of a ChannelError", async () => {
  const limit = new ChannelError("rate_limited", "slow", {
    retryAfterMs: 3,
    scope: "account",
    platformCode: "x",
    settings: ["token"],
    receipt: { parts: [{ index: 0, messageId: "m" }] },
  });
  const { rpc } = open(async (name) => {
    if (name === "Bob") throw limit;
    return `Hello, ${name}`;
  });
  const [ann, bob] = await Promise.allSettled([rpc.call("greet", "Ann"), rpc.call("greet", "Bob")]);
  expect(ann).toEqual({ status: "fulfilled", value: "Hello, Ann" });
  expect(bob).toMatchObject({
    reason: {
      name: "ChannelError",
      code: "rate_limited",
      message: "slow",
      retryAfterMs: 3,
      scope: "account",
      platformCode: "x",
      settings: ["token"],
      receipt: { parts: [{ index: 0, messageId: "m" }] },
    },
  });
});

it("forwards a signal that fires during a call, and makes no call if it has already fired", async () => {
  const begun = Promise.withResolvers<void>();
  const calls: string[] = [];
  const { rpc } = open(async (name, signal) => {
    calls.push(name);
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "gave up";
  });
  await expect(rpc.call("greet", "Ann", AbortSignal.abort())).rejects.toMatchObject({ code: "transient" });
  const stop = new AbortController();
  const calling = rpc.call("greet", "Bob", stop.signal);
  await begun.promise;
  stop.abort();
  expect(await calling).toBe("gave up");
  expect(calls).toEqual(["Bob"]);
});

it("calls only functions that are offered", async () => {
  const { rpc } = open(() => "");
  for (const name of ["shout", "toString", "constructor"])
    await expect(rpc.call(name as "greet", "Ann")).rejects.toThrow(`There is no function ${name}`);
});

it("fails a call whose parameter or result cannot be cloned", async () => {
  const { rpc } = open(() => () => {});
  await expect(rpc.call("greet", (() => {}) as never)).rejects.toThrow("could not be cloned");
  await expect(rpc.call("greet", "Ann")).rejects.toThrow("could not be cloned");
});

it.each([
  ["text", "hello"],
  ["nothing", null],
  ["a message of another kind", { t: "x" }],
  ["an answer without a call", { t: "s" }],
  ["an error without a message", { t: "s", i: "1", e: { code: "auth" } }],
])("reports %s as invalid", async (_, message) => {
  const { rpc, invalid, post } = open(async () => "hi");
  post(message);
  expect(await rpc.call("greet", "Ann")).toBe("hi");
  expect(invalid).toEqual(["it sent a message that does not follow the protocol"]);
});

it("fails calls in progress and later calls after it is closed", async () => {
  const { rpc } = open(() => new Promise(() => {}));
  const waiting = rpc.call("greet", "Ann");
  rpc.close(new Error("gone"));
  await expect(waiting).rejects.toThrow("gone");
  await expect(rpc.call("greet", "Bob")).rejects.toThrow("gone");
});
