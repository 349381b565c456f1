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
const services: Services = { emit: async () => "accepted", state: createMemoryState, commands: () => [] };

function channelThat(start: () => Promise<void>, stop = async () => {}): ChannelDefinition {
  const channel: Channel = {
    start,
    stop,
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
      stream: "none",
      threads: "none",
      delivery: {},
      rate: [],
      transports: ["internal"],
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
  let stops = 0;
  const start = async () => {
    starts += 1;
    if (starts === 1) throw new Error("no network");
  };
  const definition = channelThat(start, async () => void stops++);
  const { accounts, waits } = accountsWith(definition);
  await accounts.start(services);
  expect(accounts.health()).toEqual([
    { channel: "echo", account: "main", state: "down", reason: "no network" },
  ]);
  expect(accounts.get("echo", "main")).toBeUndefined();
  expect(accounts.definition("echo", "main")).toBe(definition);
  expect(waits.map(({ ms }) => ms)).toEqual([30_000]);
  // What it holds already is let go of, before another one is made.
  expect(stops).toBe(1);
  waits[0]?.end();
  await expect.poll(() => accounts.get("echo", "main")).toBeDefined();
  expect(accounts.health()).toEqual([{ channel: "echo", account: "main", state: "ready" }]);
});

it("brings some accounts up first and the others later, each once", async () => {
  const starts: string[] = [];
  const counted = (id: string): ChannelDefinition => ({
    ...channelThat(async () => void starts.push(id)),
    id,
  });
  const { accounts } = accountsWith(counted("echo"));
  accounts.add({ definition: counted("later"), account: "main", config: {} });
  await accounts.start(services, ({ definition }) => definition.id === "echo");
  expect(starts).toEqual(["echo"]);
  expect(accounts.health().map(({ state }) => state)).toEqual(["ready", "starting"]);
  await accounts.start(services);
  expect(starts).toEqual(["echo", "later"]);
  expect(accounts.health().map(({ state }) => state)).toEqual(["ready", "ready"]);
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

it("brings up no account that a change adds once it is stopped", async () => {
  const starts: string[] = [];
  const stopping = Promise.withResolvers<void>();
  const { accounts } = accountsWith(
    channelThat(
      async () => void starts.push("main"),
      () => stopping.promise,
    ),
  );
  const added = {
    definition: channelThat(async () => void starts.push("added")),
    account: "added",
    config: {},
  };
  await accounts.start(services);
  // The one it replaces takes until after the stop to end.
  const before = { channel: "echo", account: "main" };
  const changed = accounts.change({ remove: [before], add: [added] }, 0);
  const stopped = accounts.stop(0);
  stopping.resolve();
  await Promise.all([changed, stopped]);
  await accounts.change({ remove: [], add: [{ ...added, account: "another" }] }, 0);
  expect(starts).toEqual(["main"]);
});

it("lets a channel speak for itself alone, whatever it passes on", async () => {
  const heard: string[] = [];
  const relay: ChannelDefinition = {
    ...channelThat(async () => {}),
    create: async (context) => {
      await context.emit({
        type: "message",
        eventId: "e",
        messageId: "m",
        channel: "api",
        account: "forged",
        conversation: { id: "c", kind: "direct" },
        address: "echo:c",
        addressed: "dm",
        sender: { id: "ann", isBot: false, isSelf: false },
        timestamp: 0,
        text: "hello",
        media: [],
        mentions: [],
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

/** Rights to accounts that hosts share, as leases are. */
function createRights() {
  const holders = new Map<string, AbortController>();
  return {
    of: (): NonNullable<Services["right"]> => async (channel, account) => {
      const key = `${channel}/${account}`;
      if (holders.has(key)) return undefined;
      const lost = new AbortController();
      holders.set(key, lost);
      return { lost: lost.signal, release: async () => void holders.delete(key) };
    },
    /** Somebody else has all of them from now on. */
    takeAway() {
      for (const lost of holders.values()) lost.abort();
    },
  };
}

it("runs an account on one of several hosts, and on the next once that one has stopped", async () => {
  const rights = createRights();
  const one = accountsWith(channelThat(async () => {}));
  const two = accountsWith(channelThat(async () => {}));
  await one.accounts.start({ ...services, right: rights.of() });
  await two.accounts.start({ ...services, right: rights.of() });
  expect(one.accounts.get("echo", "main")).toBeDefined();
  expect(two.accounts.get("echo", "main")).toBeUndefined();
  expect(two.accounts.health()).toMatchObject([{ state: "down", reason: "another host runs it" }]);
  await one.accounts.stop(0);
  two.waits[0]?.end();
  await expect.poll(() => two.accounts.get("echo", "main")).toBeDefined();
  expect(two.accounts.health()).toEqual([{ channel: "echo", account: "main", state: "ready" }]);
});

it("lets another host have an account that does not start here", async () => {
  const rights = createRights();
  const one = accountsWith(
    channelThat(async () => {
      throw new Error("no network");
    }),
  );
  const two = accountsWith(channelThat(async () => {}));
  await one.accounts.start({ ...services, right: rights.of() });
  await two.accounts.start({ ...services, right: rights.of() });
  expect(two.accounts.get("echo", "main")).toBeDefined();
});

it("brings an account down that another host has taken, and asks for it again later", async () => {
  const rights = createRights();
  const seen: string[] = [];
  const definition = channelThat(async () => {});
  const told: ChannelDefinition = {
    ...definition,
    create: async (context) => {
      context.signal.addEventListener("abort", () => seen.push("aborted"));
      const channel = await definition.create(context);
      return { ...channel, stop: async () => void seen.push("stopped") };
    },
  };
  const { accounts, waits } = accountsWith(told);
  await accounts.start({ ...services, right: rights.of() });
  rights.takeAway();
  await expect.poll(() => waits).toHaveLength(1);
  expect(seen.toSorted()).toEqual(["aborted", "stopped"]);
  expect(accounts.get("echo", "main")).toBeUndefined();
  expect(accounts.health()).toMatchObject([{ state: "down", reason: "another host runs it" }]);
  await accounts.stop(0);
});
