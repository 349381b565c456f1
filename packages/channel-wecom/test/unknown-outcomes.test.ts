import type { SendIntent } from "@signalbox/channel";
import { expect, it, onTestFinished } from "vitest";
import { formatMessageId } from "../src/address.ts";
import type { WecomAddress } from "../src/index.ts";
import { never, openBench } from "./harness.ts";

const COUNT = 200;
const to: WecomAddress = { type: "single", id: "zhangsan" };

async function open() {
  const bench = await openBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return bench;
}

/** Returns what the gateway looks up for each of the messages. */
function intentsFor(replyTo: (number: number) => string | undefined): readonly SendIntent<WecomAddress>[] {
  return Array.from({ length: COUNT }, (_, number) => ({
    to,
    idempotencyKey: `key-${number}`,
    part: 0,
    content: { type: "text", text: `answer ${number}` },
    replyTo: replyTo(number),
    attemptedAt: Date.now(),
  }));
}

type Bench = Awaited<ReturnType<typeof open>>;

/** Sends the messages while every acknowledgment is lost. Returns the codes of the errors. */
async function sendAll({ channel, fakeServer }: Bench, intents: readonly SendIntent<WecomAddress>[]) {
  fakeServer.fail({ kind: "hang", times: COUNT });
  const results = await Promise.all(
    intents.map(({ content, idempotencyKey, replyTo }) =>
      channel.send(to, { parts: [content], replyTo }, { idempotencyKey, signal: never }).then(
        () => "sent",
        (error: { readonly code: string }) => error.code,
      ),
    ),
  );
  return new Set(results);
}

it("sends each of 200 replies exactly once, although every acknowledgment is lost", async () => {
  const bench = await open();
  const { channel, fakeServer } = bench;
  const intents = intentsFor((number) => {
    fakeServer.expectReply(`req-${number}`, to.id);
    return formatMessageId({ msgid: `m${number}`, reqId: `req-${number}`, sentAt: Date.now() });
  });
  expect(await sendAll(bench, intents)).toEqual(new Set(["unknown_outcome"]));
  const found = await Promise.all(intents.map((intent) => channel.reconcile?.(intent, never)));
  expect(found).toEqual(
    intents.map(({ idempotencyKey }) => ({ outcome: "sent", messageId: `${idempotencyKey}.0` })),
  );
  expect(fakeServer.sent.map(({ id, shown }) => [id, ...shown])).toEqual(
    intents.map((_, number) => [`key-${number}.0`, `answer ${number}`]),
  );
});

it("sends replies that never arrived when their outcome is looked up, and each of them once", async () => {
  const { channel, fakeServer } = await open();
  fakeServer.expectReply("req-1", to.id);
  const replyTo = formatMessageId({ msgid: "m1", reqId: "req-1", sentAt: Date.now() });
  const [intent] = intentsFor(() => replyTo);
  if (intent === undefined) throw new Error("There is no intent.");
  for (let round = 0; round < 3; round += 1)
    expect(await channel.reconcile?.(intent, never)).toEqual({ outcome: "sent", messageId: "key-0.0" });
  expect(fakeServer.sent.map(({ shown }) => shown)).toEqual([["answer 0"]]);
});

it("never repeats any of 200 messages without a reply whose acknowledgment is lost", async () => {
  const bench = await open();
  const intents = intentsFor(() => undefined);
  expect(await sendAll(bench, intents)).toEqual(new Set(["unknown_outcome"]));
  const found = await Promise.all(intents.map((intent) => bench.channel.reconcile?.(intent, never)));
  expect(new Set(found.map((result) => result?.outcome))).toEqual(new Set(["unknown"]));
  expect(bench.fakeServer.sent).toHaveLength(COUNT);
});

it("does not claim that a reply was sent if WeCom no longer accepts one", async () => {
  const { channel, fakeServer } = await open();
  const replyTo = formatMessageId({ msgid: "m1", reqId: "unknown", sentAt: Date.now() });
  const [intent] = intentsFor(() => replyTo);
  if (intent === undefined) throw new Error("There is no intent.");
  expect(await channel.reconcile?.(intent, never)).toEqual({ outcome: "unknown" });
  expect(fakeServer.sent).toEqual([]);
});
