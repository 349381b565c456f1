import { createInMemoryState, type SendIntent } from "@signalbox/channel";
import { person, statusPayload } from "@signalbox/testkit/whatsapp";
import { expect, it } from "vitest";
import type { WhatsAppAddress } from "../src/index.ts";
import { type Bench, createAdjustableClock, never, openBench, post } from "./harness.ts";

const to = { to: person.id };
const content = { type: "text", text: "the answer" } as const;

function send({ channel }: Bench, key = "k") {
  return channel.send(to, { parts: [content] }, { idempotencyKey: key, signal: never });
}

async function lookUp({ channel }: Bench, intent: Partial<SendIntent<WhatsAppAddress>> = {}) {
  return channel.reconcile?.(
    { to, idempotencyKey: "k", part: 0, content, attemptedAt: Date.now(), ...intent },
    never,
  );
}

/** Looks up a message until its status has arrived. */
async function lookUpUntilFound(bench: Bench, key: string) {
  for (;;) {
    const found = await lookUp(bench, { idempotencyKey: key }).catch((error: unknown) => error);
    if (!(found instanceof Error)) return found;
    expect(found).toMatchObject({ code: "transient", retryAfterMs: 2_000 });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

it("finds each of 200 messages whose response was lost, exactly once on the platform", async () => {
  await using bench = await openBench();
  const { fakeServer } = bench;
  for (let index = 0; index < 200; index += 1) {
    const key = `lost-${index}`;
    fakeServer.fail({ kind: "cut" });
    await expect(send(bench, key)).rejects.toMatchObject({ code: "unknown_outcome" });
    const message = fakeServer.sent.filter(({ callbackData }) => callbackData === `${key}.0`);
    expect(message).toHaveLength(1);
    expect(await lookUpUntilFound(bench, key)).toEqual({ outcome: "sent", messageId: message[0]?.id });
  }
  expect(fakeServer.sent).toHaveLength(200);
});

it("finds a message after a restart by the status that arrived before it", async () => {
  const state = createInMemoryState();
  await using first = await openBench({ context: { state } });
  first.fakeServer.fail({ kind: "cut" });
  await expect(send(first)).rejects.toMatchObject({ code: "unknown_outcome" });
  await lookUpUntilFound(first, "k");
  await using second = await openBench({ context: { state }, fakeServer: first.fakeServer });
  expect(await lookUp(second)).toEqual({ outcome: "sent", messageId: first.fakeServer.sent[0]?.id });
});

it("leaves the outcome unknown if no status arrives within two minutes", async () => {
  const clock = createAdjustableClock();
  await using bench = await openBench({ context: { clock } });
  bench.fakeServer.fail({ kind: "status", status: 502 });
  await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
  const attemptedAt = clock.now();
  await expect(lookUp(bench, { attemptedAt })).rejects.toMatchObject({ code: "transient" });
  clock.advance(119_000);
  await expect(lookUp(bench, { attemptedAt })).rejects.toMatchObject({ code: "transient" });
  clock.advance(1_000);
  expect(await lookUp(bench, { attemptedAt })).toEqual({ outcome: "unknown" });
});

it("waits two minutes after a start for the status of a message from before it", async () => {
  const clock = createAdjustableClock();
  await using bench = await openBench({ context: { clock } });
  const attemptedAt = clock.now() - 3_600_000;
  await expect(lookUp(bench, { attemptedAt })).rejects.toMatchObject({ code: "transient" });
  clock.advance(120_000);
  expect(await lookUp(bench, { attemptedAt })).toEqual({ outcome: "unknown" });
});

it("does not resend a message that was accepted without a response and then failed", async () => {
  await using bench = await openBench();
  bench.fakeServer.closeWindow(person.id, "later");
  bench.fakeServer.fail({ kind: "cut" });
  await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
  await expect.poll(() => bench.events.length).toBe(1);
  await expect(lookUp(bench)).rejects.toMatchObject({
    code: "permission",
    message: expect.stringContaining("templates"),
  });
});

it("reports a message that fails after it was accepted, with the reason", async () => {
  await using bench = await openBench();
  bench.fakeServer.closeWindow(person.id, "later");
  const { parts } = await send(bench);
  await expect.poll(() => bench.events.length).toBe(1);
  expect(bench.events).toMatchObject([
    {
      type: "delivery",
      messageId: parts[0]?.messageId,
      state: "failed",
      code: "permission",
      reason: expect.stringMatching(/24 hours.*templates.*\(131047\)/),
      address: `whatsapp:${person.id}`,
    },
  ]);
});

it("delivers a status again until it is stored", async () => {
  const state = createInMemoryState();
  let isBroken = true;
  const failing = {
    ...state,
    async set(...entry: Parameters<typeof state.set>) {
      if (isBroken) throw new Error("the disk is full");
      await state.set(...entry);
    },
  };
  await using bench = await openBench({ context: { state: failing } });
  const payload = statusPayload({ id: "wamid.1", status: "sent", to: person.id, callbackData: "k.0" });
  expect(await post(bench, payload)).toBe(500);
  isBroken = false;
  expect(await post(bench, payload)).toBe(200);
  expect(await lookUp(bench)).toEqual({ outcome: "sent", messageId: "wamid.1" });
});

it("stores the first status of a message only", async () => {
  const state = createInMemoryState();
  const written: string[] = [];
  const counting = { ...state, set: async (key: string) => void written.push(key) };
  await using bench = await openBench({ context: { state: counting } });
  for (const status of ["sent", "delivered", "read"] as const)
    expect(
      await post(bench, statusPayload({ id: "wamid.1", status, to: person.id, callbackData: "k.0" })),
    ).toBe(200);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatch(new RegExp(`^${bench.fakeServer.phoneNumberId}/status/\\d{1,4}$`));
});

it("ignores the callback data of other programs", async () => {
  await using bench = await openBench();
  const callbackData = "campaign 7 / x".repeat(30);
  expect(
    await post(bench, statusPayload({ id: "wamid.1", status: "sent", to: person.id, callbackData })),
  ).toBe(200);
  expect(bench.events).toEqual([]);
});
