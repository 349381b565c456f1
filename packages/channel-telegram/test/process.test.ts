import { readFileSync } from "node:fs";
import { type ChannelContext, type Clock, createInMemoryState, type InboundEvent } from "@signalbox/channel";
import { openChannel } from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { person, startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { type TelegramConfig, telegram } from "../src/index.ts";
import { BUILT, never, token } from "./harness.ts";

const to = { chatId: String(person.id) };

/** A bot whose account runs in its own process. */
async function open(context: Partial<ChannelContext<TelegramConfig>> = {}) {
  const fakeServer = await startTelegram({ token, users: [person] });
  const settings = { botToken: token, apiBaseUrl: fakeServer.url };
  const running = await openChannel(inOwnProcess(telegram, BUILT), settings, {
    context: { state: createInMemoryState(), ...context },
    close: () => fakeServer.stop(),
  });
  onTestFinished(() => running[Symbol.asyncDispose]());
  const pids = () =>
    running.logged.flatMap((line) => /in its own process \{"pid":(\d+)\}/.exec(line)?.[1] ?? []).map(Number);
  const kill = (signal: NodeJS.Signals = "SIGKILL") => {
    const pid = pids().at(-1);
    // Without a pid, the signal would go to the whole process group.
    if (pid === undefined) throw new Error("The log does not name the process of the account.");
    process.kill(pid, signal);
  };
  return { ...running, fakeServer, pids, kill };
}

const part = (text: string) => ({ parts: [{ type: "text" as const, text }] });

it("restarts an account process that was killed, without losing or repeating messages", async () => {
  const emitted: InboundEvent[] = [];
  const kept = new Set<string>();
  let isFirst = true;
  const { channel, fakeServer, pids, kill } = await open({
    emit: async (event) => {
      emitted.push(event);
      const isNew = !kept.has(event.eventId);
      kept.add(event.eventId);
      // The process dies before it confirms the message to Telegram.
      if (event.type === "message" && event.text === "one" && isFirst) {
        isFirst = false;
        kill();
      }
      return isNew ? "accepted" : "duplicate";
    },
  });
  const pushed = Promise.all(["one", "two"].map((text) => fakeServer.push(textMessage(text))));
  await expect.poll(() => channel.health().state).toBe("down");
  await expect
    .poll(() => channel.health())
    .toMatchObject({
      reason: expect.stringContaining("SIGKILL"),
      retryAt: expect.any(Number),
    });
  const meanwhile = channel.send(to, part("hello"), { idempotencyKey: "k0", signal: never });
  await expect(meanwhile).rejects.toMatchObject({ code: "transient", scope: "account" });
  await pushed;
  await expect.poll(() => channel.health().state).toBe("ready");
  expect(new Set(pids()).size).toBe(2);
  const texts = emitted.map((event) => (event.type === "message" ? event.text : event.type));
  expect([...new Set(texts)]).toEqual(["one", "two"]);
  expect(kept.size).toBe(2);
  await channel.send(to, part("back"), { idempotencyKey: "k1", signal: never });
  expect(fakeServer.sent.map(({ text }) => text)).toEqual(["back"]);
});

it("kills and restarts an account process that hangs", async () => {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => Date.now(),
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  const { channel, pids, kill } = await open({ clock });
  kill("SIGSTOP");
  // The log may already contain a line from before the stop; the second iteration is certain.
  for (const count of [1, 2]) {
    await expect.poll(() => waits.filter(({ ms }) => ms === 30_000).length).toBe(count);
    waits.at(-1)?.end();
    if (channel.health().state === "down") break;
  }
  await expect
    .poll(() => channel.health())
    .toMatchObject({ reason: expect.stringContaining("stopped responding") });
  await expect.poll(() => waits.at(-1)?.ms).toBe(1_000);
  waits.at(-1)?.end();
  await expect.poll(() => channel.health().state).toBe("ready");
  expect(new Set(pids()).size).toBe(2);
});

it("reports an unknown outcome and the sent parts if the process dies while sending", async () => {
  const { channel, fakeServer, kill } = await open();
  const message = { parts: [...part("one").parts, ...part("two").parts] };
  const sending = channel.send(to, message, {
    idempotencyKey: "k",
    signal: never,
    onPart: async () => kill(),
  });
  await expect(sending).rejects.toMatchObject({
    code: "unknown_outcome",
    receipt: { parts: [{ index: 0, messageId: expect.any(String) }] },
  });
  await expect.poll(() => channel.health().state).toBe("ready");
  const rest = await channel.send(to, message, { idempotencyKey: "k", signal: never, startAt: 1 });
  expect(rest.parts).toHaveLength(1);
  expect(fakeServer.sent.map(({ text }) => text)).toEqual(["one", "two"]);
});

it("continues a draft in the message that the previous process created", async () => {
  const { channel, fakeServer, kill } = await open();
  const draft = await channel.openDraft?.(to, { idempotencyKey: "d", signal: never });
  await draft?.update("Hel");
  kill();
  await expect.poll(() => channel.health().state).toBe("down");
  await expect.poll(() => channel.health().state).toBe("ready");
  await draft?.update("Hello");
  const receipt = await draft?.finalize(part("Hello!"));
  expect(fakeServer.sent.map(({ texts }) => texts.at(-1))).toEqual(["Hello!"]);
  expect(receipt?.parts).toEqual([{ index: 0, messageId: draft?.messageId }]);
});

it("runs the account's checks in the separate process", async () => {
  const { channel } = await open();
  expect(await channel.checks?.(never)).toMatchObject([{ about: "groups", ok: true }]);
});

it("leaves no process behind after a stop", async () => {
  const handles = () => process.getActiveResourcesInfo().filter((name) => name !== "Immediate").length;
  const fakeServer = await startTelegram({ token, users: [person] });
  onTestFinished(() => fakeServer.stop());
  const round = async () => {
    await using running = await openChannel(inOwnProcess(telegram, BUILT), {
      botToken: token,
      apiBaseUrl: fakeServer.url,
    });
    expect(running.channel.health().state).toBe("ready");
  };
  await round();
  const before = handles();
  for (let count = 0; count < 3; count += 1) await round();
  await expect.poll(handles).toBeLessThanOrEqual(before);
});

it.skipIf(process.platform !== "linux")("does not expose secrets in the process list", async () => {
  const { pids } = await open();
  const [pid] = pids();
  for (const file of ["environ", "cmdline"]) {
    const shown = readFileSync(`/proc/${pid}/${file}`, "utf8");
    expect(shown).not.toContain(token);
    expect(shown).not.toMatch(/SIGNALBOX|_KEY|_TOKEN|_SECRET/);
  }
});
