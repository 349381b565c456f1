import { duplexPair } from "node:stream";
import { expect, it } from "vitest";
import { z } from "zod";
import { ChannelError } from "../contract/errors.ts";
import { type Handler, handling, Line } from "./line.ts";
import type { Method } from "./methods.ts";

const greet: Method<{ name: string }, string> = {
  name: "greet",
  params: z.object({ name: z.string() }),
  result: z.string(),
};

function open(...handlers: Handler[]) {
  const [near, far] = duplexPair();
  const gone: (string | undefined)[] = [];
  const line = new Line(near, [], (reason) => gone.push(reason));
  const other = new Line(far, handlers, () => {});
  return { line, other, far, gone };
}

it("calls several methods at once, and gives errors back as they were", async () => {
  const limit = new ChannelError("rate_limited", "slow", {
    retryAfterMs: 3,
    scope: "account",
    platformCode: "x",
  });
  const { line } = open(
    handling(greet, async ({ name }) => {
      if (name === "Bob") throw limit;
      return `Hello, ${name}`;
    }),
  );
  const [ann, bob] = await Promise.allSettled([
    line.call(greet, { name: "Ann" }),
    line.call(greet, { name: "Bob" }),
  ]);
  expect(ann).toEqual({ status: "fulfilled", value: "Hello, Ann" });
  expect(bob).toMatchObject({
    reason: { code: "rate_limited", message: "slow", retryAfterMs: 3, scope: "account", platformCode: "x" },
  });
});

it("passes a signal on, fired before the call or during it", async () => {
  const begun = Promise.withResolvers<void>();
  const { line } = open(
    handling(greet, async (_, signal) => {
      begun.resolve();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "gave up";
    }),
  );
  expect(await line.call(greet, { name: "Ann" }, AbortSignal.abort())).toBe("gave up");
  const stop = new AbortController();
  const calling = line.call(greet, { name: "Ann" }, stop.signal);
  await begun.promise;
  stop.abort();
  expect(await calling).toBe("gave up");
});

it("reads what it is called with by the method's schema, and knows no other method", async () => {
  const { line } = open(handling(greet, ({ name }) => name));
  const wrong = { name: 1 } as unknown as { name: string };
  await expect(line.call(greet, wrong)).rejects.toThrow("expected string");
  await expect(line.call({ ...greet, name: "shout" }, { name: "Ann" })).rejects.toThrow("no method shout");
});

it("waits for no answer to what cannot be written", async () => {
  const { line, far, gone } = open();
  await expect(line.call(greet, { name: 1n as unknown as string })).rejects.toThrow("BigInt");
  // Were it waited for, this would be an answer of the wrong kind, and cut the line.
  far.write('{"type":"result","id":0}\n');
  await new Promise((resolve) => setImmediate(resolve));
  expect(gone).toEqual([]);
});

it.each([
  ["no JSON", "{\n"],
  ["no packet", '{"type":"of tomorrow"}\n'],
  ["a result of another kind", '{"type":"result","id":0,"value":1}\n'],
  ["a packet without an end", "x".repeat(33_000_000)],
])("cuts the line to who sends %s, and fails what waits for it", async (_, sent) => {
  const { line, far, gone } = open();
  far.pause();
  const waiting = line.call(greet, { name: "Ann" });
  far.write(sent);
  await expect(waiting).rejects.toMatchObject({ name: "LineCut" });
  expect(gone).toHaveLength(1);
  await expect(line.call(greet, { name: "Bob" })).rejects.toMatchObject({ name: "LineCut" });
});
