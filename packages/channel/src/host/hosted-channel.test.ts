import { expect, it } from "vitest";
import type { ChannelContext } from "../contract/definition.ts";
import { ChannelError } from "../contract/errors.ts";
import type { EmitResult, InboundEvent } from "../contract/events.ts";
import type { Receipt } from "../contract/messages.ts";
import {
  type AccountParts,
  type ChannelMethods,
  type HostedAccount,
  hostedChannel,
} from "./hosted-channel.ts";
import { createInMemoryCache, createInMemoryState } from "./in-memory.ts";
import { systemClock } from "./system-clock.ts";

const never = new AbortController().signal;
const message = { parts: [{ type: "text", text: "hi" }] } as const;
const options = { idempotencyKey: "k", signal: never };
const event = { type: "deleted", eventId: "e" } as InboundEvent;
const quiet = () => {};

type Methods = ChannelMethods<string>;

function open(
  parts: Partial<Omit<AccountParts<Methods>, "methods">> & { readonly methods?: Partial<Methods> } = {},
) {
  const calls: string[] = [];
  const log = (name: string) => () => void calls.push(name);
  let hosted: HostedAccount<unknown> | undefined;
  const context: ChannelContext = {
    config: {},
    account: "main",
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    emit: async (): Promise<EmitResult> => "accepted",
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createInMemoryCache({ clock: systemClock }),
    state: createInMemoryState(),
    signal: never,
  };
  const channel = hostedChannel(context, (account) => {
    hosted = account;
    return {
      start: async () => log("start")(),
      ready: log("ready"),
      disconnect: log("disconnect"),
      close: async () => log("close")(),
      self: () => ({ id: "bot" }),
      ...parts,
      methods: { send: async (): Promise<Receipt> => ({ parts: [] }), ...parts.methods },
    };
  });
  if (hosted === undefined) throw new Error("the account was not opened");
  return { channel, calls, account: hosted };
}

it("starts and stops once, and closes after it has disconnected", async () => {
  const { channel, calls } = open();
  expect(channel.health()).toEqual({ state: "starting" });
  await channel.start(never);
  await channel.start(never);
  expect(channel.health()).toEqual({ state: "ready" });
  await channel.stop({ drainMs: 0 });
  await channel.stop({ drainMs: 0 });
  expect(channel.health()).toEqual({ state: "stopped" });
  expect(calls).toEqual(["start", "ready", "disconnect", "close", "disconnect"]);
});

it("never becomes ready if it is stopped before or during the start", async () => {
  const before = open();
  await before.channel.stop({ drainMs: 0 });
  await before.channel.start(never);
  expect(before.calls).not.toContain("start");

  const connected = Promise.withResolvers<void>();
  const during = open({ start: () => connected.promise });
  const starting = during.channel.start(never);
  await during.channel.stop({ drainMs: 0 });
  connected.resolve();
  await starting;
  expect(during.channel.health()).toEqual({ state: "stopped" });
  expect(during.calls).toEqual(["disconnect", "close", "disconnect"]);
});

it("disconnects after a failed start, and refuses to start if the signal has fired", async () => {
  const { channel, calls } = open({ start: () => Promise.reject(new Error("no network")) });
  await expect(channel.start(never)).rejects.toThrow("no network");
  expect(calls).toEqual(["disconnect"]);
  await expect(open().channel.start(AbortSignal.abort())).rejects.toThrow();
});

it("waits for calls in progress when it stops, and aborts `stopped` at once", async () => {
  const sent = Promise.withResolvers<Receipt>();
  const { channel, calls, account } = open({ methods: { send: () => sent.promise } });
  await channel.start(never);
  const sending = channel.send("to", message, options);
  const stopping = channel.stop({ drainMs: 60_000 });
  expect(account.stopped.aborted).toBe(true);
  await new Promise(setImmediate);
  expect(calls).not.toContain("close");
  sent.resolve({ parts: [] });
  await stopping;
  expect(calls).toContain("close");
  await sending;
});

it("is degraded after an error of the whole account, until a call reaches the platform", async () => {
  const results = [new ChannelError("auth", "the token is revoked", { scope: "account" }), undefined];
  const { channel } = open({
    methods: {
      async send() {
        const error = results.shift();
        if (error !== undefined) throw error;
        return { parts: [] };
      },
      openDirect: async () => "direct",
    },
  });
  await channel.start(never);
  await expect(channel.send("to", message, options)).rejects.toMatchObject({ code: "auth" });
  await channel.openDirect?.("ann", never);
  expect(channel.health()).toEqual({ state: "degraded", reason: "the token is revoked" });
  await channel.send("to", message, options);
  expect(channel.health()).toEqual({ state: "ready" });
});

it("rejects events and webhooks after it was stopped", async () => {
  const { channel, account } = open({ methods: { webhook: async () => new Response("ok") } });
  await channel.start(never);
  const request = new Request("http://gateway/", { method: "POST" });
  expect(await account.context.emit(event)).toBe("accepted");
  expect((await channel.webhook?.(request))?.status).toBe(200);
  await channel.stop({ drainMs: 0 });
  expect(await account.context.emit(event)).toBe("rejected");
  expect((await channel.webhook?.(request))?.status).toBe(503);
});
