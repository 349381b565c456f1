import { expect, it } from "vitest";
import {
  type Channel,
  type ChannelDefinition,
  type Clock,
  createMemoryCache,
  createMemoryState,
} from "../index.ts";
import { createAccounts, type Services } from "./index.ts";

const quiet = () => {};
const services: Services = { emit: async () => "accepted", state: createMemoryState, commands: [] };

function channelThat(start: () => Promise<void>): ChannelDefinition {
  const channel: Channel = {
    start,
    stop: async () => {},
    health: () => ({ state: "ready" }),
    self: () => undefined,
    send: async () => ({ parts: [] }),
  };
  return {
    specVersion: 1,
    id: "echo",
    meta: { label: "Echo", fields: {} },
    config: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
    capabilities: {
      text: { max: 100, unit: "codepoints", markup: "plain" },
      ...{ stream: "none", threads: "none", delivery: {}, rate: [], transports: ["internal"] },
    },
    codec: { encode: String, decode: (text) => text },
    create: async () => channel,
  };
}

/** A clock whose waits end when they are told to. */
function createClock() {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  return { clock, waits };
}

function accountsWith(definition: ChannelDefinition) {
  const { clock, waits } = createClock();
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const accounts = createAccounts({ logger: () => logger, cache: createMemoryCache({ clock }), clock });
  accounts.add({ definition, account: "main", config: {} });
  return { accounts, waits };
}

it("tries an account again that did not start, and says meanwhile why it is down", async () => {
  let starts = 0;
  const definition = channelThat(async () => {
    starts += 1;
    if (starts === 1) throw new Error("no network");
  });
  const { accounts, waits } = accountsWith(definition);
  await accounts.start(services);
  expect(accounts.health()).toEqual([
    { channel: "echo", account: "main", state: "down", reason: "no network" },
  ]);
  expect(accounts.get("echo", "main")).toBeUndefined();
  expect(accounts.definition("echo", "main")).toBe(definition);
  expect(waits.map(({ ms }) => ms)).toEqual([30_000]);
  waits[0]?.end();
  await expect.poll(() => accounts.get("echo", "main")).toBeDefined();
  expect(accounts.health()).toEqual([{ channel: "echo", account: "main", state: "ready" }]);
});

it("tries nothing again once it is stopped", async () => {
  let starts = 0;
  const { accounts, waits } = accountsWith(
    channelThat(async () => {
      starts += 1;
      throw new Error("no network");
    }),
  );
  await accounts.start(services);
  await accounts.stop(0);
  waits[0]?.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(starts).toBe(1);
});

it("lets a channel speak for itself alone, whatever it passes on", async () => {
  const heard: string[] = [];
  const relay: ChannelDefinition = {
    ...channelThat(async () => {}),
    create: async (context) => {
      await context.emit({
        ...{ type: "message", eventId: "e", messageId: "m", channel: "api", account: "forged" },
        ...{ conversation: { id: "c", kind: "direct" }, address: "echo:c", addressed: "dm" },
        ...{ sender: { id: "ann", isBot: false, isSelf: false }, timestamp: 0 },
        ...{ text: "hello", media: [], mentions: [] },
      });
      return channelThat(async () => {}).create(context);
    },
  };
  const { accounts } = accountsWith(relay);
  await accounts.start({
    ...services,
    async emit({ channel, account }) {
      heard.push(`${channel}/${account}`);
      return "accepted";
    },
  });
  expect(heard).toEqual(["echo/main"]);
});

it("changes the accounts it is told to change, and no other", async () => {
  const begun: string[] = [];
  const ended: string[] = [];
  const definition: ChannelDefinition = {
    ...channelThat(async () => {}),
    create: async ({ account, config }) => ({
      start: async () => void begun.push(`${account} ${String(config)}`),
      stop: async () => void ended.push(account),
      health: () => ({ state: "ready" }),
      self: () => undefined,
      send: async () => ({ parts: [] }),
    }),
  };
  const { accounts } = accountsWith(definition);
  accounts.add({ definition, account: "second", config: 1 });
  accounts.add({ definition, account: "third", config: 1 });
  await accounts.start(services);
  const add = [{ definition, account: "second", config: 2 }];
  await accounts.change({ remove: [{ channel: "echo", account: "third" }], add }, 0);
  expect(begun.slice(3)).toEqual(["second 2"]);
  expect(ended.toSorted()).toEqual(["second", "third"]);
  expect(accounts.health().map(({ account }) => account)).toEqual(["main", "second"]);
  expect(accounts.get("echo", "third")).toBeUndefined();
});
