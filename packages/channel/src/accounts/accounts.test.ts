import { expect, it } from "vitest";
import {
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  type Clock,
  createInMemoryCache,
  createInMemoryState,
  failedToConnect,
} from "../index.ts";
import { type AccountServices, createAccounts } from "./index.ts";

const quiet = () => {};
const services: AccountServices = {
  emit: async () => "accepted",
  state: createInMemoryState,
  commands: () => [],
};

function createChannel(start: () => Promise<void>, stop = async () => {}): ChannelDefinition {
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

/** A clock whose delays end on demand. */
function createClock() {
  const delays: { readonly ms: number; readonly end: () => void }[] = [];
  const clock: Clock = {
    now: () => 0,
    delay: (ms, signal) =>
      new Promise((resolve, reject) => {
        delays.push({ ms, end: resolve });
        signal?.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  return { clock, delays };
}

function createHost(definition: ChannelDefinition, fetch?: typeof globalThis.fetch) {
  const { clock, delays } = createClock();
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const cache = createInMemoryCache({ clock });
  const accounts = createAccounts({ logger: () => logger, cache, clock, fetch });
  accounts.add({ definition, account: "main", config: {} });
  return { accounts, delays };
}

it("retries an account that failed to start, and reports why it is down", async () => {
  let starts = 0;
  let stops = 0;
  const start = async () => {
    starts += 1;
    if (starts === 1) throw new Error("no network");
  };
  const definition = createChannel(start, async () => void stops++);
  const { accounts, delays } = createHost(definition);
  await accounts.start(services);
  expect(accounts.health()).toEqual([
    { channel: "echo", account: "main", state: "down", reason: "no network" },
  ]);
  expect(accounts.get("echo", "main")).toBeUndefined();
  expect(accounts.definition("echo", "main")).toBe(definition);
  expect(delays.map(({ ms }) => ms)).toEqual([1_000]);
  // The failed attempt may hold connections, so it is stopped before the retry.
  expect(stops).toBe(1);
  delays[0]?.end();
  await expect.poll(() => accounts.get("echo", "main")).toBeDefined();
  expect(accounts.health()).toEqual([{ channel: "echo", account: "main", state: "ready" }]);
});

it("retries with a delay that doubles from one second to 30 seconds", async () => {
  const { accounts, delays } = createHost(createChannel(() => Promise.reject(new Error("no network"))));
  await accounts.start(services);
  for (let round = 0; round < 6; round += 1) {
    delays[round]?.end();
    await expect.poll(() => delays.length).toBe(round + 2);
  }
  expect(delays.map(({ ms }) => ms)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it.each([true, false])(
  "tells a channel if other hosts send through its account, too: %s",
  async (isShared) => {
    const contexts: unknown[] = [];
    const definition = createChannel(async () => {});
    const { accounts } = createHost({
      ...definition,
      create: async (context) => {
        contexts.push(context.isShared);
        return definition.create(context);
      },
    });
    await accounts.start(isShared ? { ...services, isShared } : services);
    expect(contexts).toEqual([isShared]);
  },
);

it("sends no request of a channel while another host may have taken over its work", async () => {
  let isHeld = false;
  let requests = 0;
  let fetch: ChannelContext["fetch"] | undefined;
  const definition = createChannel(async () => {});
  const { accounts } = createHost(
    {
      ...definition,
      create: async (context) => {
        fetch = context.fetch;
        return definition.create(context);
      },
    },
    async () => {
      requests += 1;
      return new Response();
    },
  );
  await accounts.start({ ...services, mayRequest: () => isHeld });
  const error: unknown = await fetch?.("http://platform.example/").catch((reason: unknown) => reason);
  expect([requests, failedToConnect(error)]).toEqual([0, true]);
  isHeld = true;
  await fetch?.("http://platform.example/");
  expect(requests).toBe(1);
});

it("starts chosen accounts first and the others later, each once", async () => {
  const starts: string[] = [];
  const counted = (id: string): ChannelDefinition => ({
    ...createChannel(async () => void starts.push(id)),
    id,
  });
  const { accounts } = createHost(counted("echo"));
  accounts.add({ definition: counted("later"), account: "main", config: {} });
  await accounts.start(services, ({ definition }) => definition.id === "echo");
  expect(starts).toEqual(["echo"]);
  expect(accounts.health().map(({ state }) => state)).toEqual(["ready", "starting"]);
  await accounts.start(services);
  expect(starts).toEqual(["echo", "later"]);
  expect(accounts.health().map(({ state }) => state)).toEqual(["ready", "ready"]);
});

it("does not retry after it was stopped", async () => {
  let starts = 0;
  const { accounts, delays } = createHost(
    createChannel(async () => {
      starts += 1;
      throw new Error("no network");
    }),
  );
  await accounts.start(services);
  await accounts.stop(0);
  delays[0]?.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect(starts).toBe(1);
});

it("starts no account of a change that is still running when the host stops", async () => {
  const starts: string[] = [];
  const stopping = Promise.withResolvers<void>();
  const { accounts } = createHost(
    createChannel(
      async () => void starts.push("main"),
      () => stopping.promise,
    ),
  );
  const added = {
    definition: createChannel(async () => void starts.push("added")),
    account: "added",
    config: {},
  };
  await accounts.start(services);
  // Stopping the replaced account ends only after `accounts.stop` was called.
  const before = { channel: "echo", account: "main" };
  const changed = accounts.change({ remove: [before], add: [added] }, 0);
  const stopped = accounts.stop(0);
  stopping.resolve();
  await Promise.all([changed, stopped]);
  await accounts.change({ remove: [], add: [{ ...added, account: "another" }] }, 0);
  expect(starts).toEqual(["main"]);
});

it("overwrites the channel and account of every event, so a channel cannot impersonate another", async () => {
  const emitted: string[] = [];
  const relay: ChannelDefinition = {
    ...createChannel(async () => {}),
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
      return createChannel(async () => {}).create(context);
    },
  };
  const { accounts } = createHost(relay);
  await accounts.start({
    ...services,
    async emit({ channel, account }) {
      emitted.push(`${channel}/${account}`);
      return "accepted";
    },
  });
  expect(emitted).toEqual(["echo/main"]);
});

it("changes only the named accounts", async () => {
  const started: string[] = [];
  const ended: string[] = [];
  const definition: ChannelDefinition = {
    ...createChannel(async () => {}),
    create: async ({ account, config }) => ({
      start: async () => void started.push(`${account} ${String(config)}`),
      stop: async () => void ended.push(account),
      health: () => ({ state: "ready" }),
      self: () => undefined,
      send: async () => ({ parts: [] }),
    }),
  };
  const { accounts } = createHost(definition);
  accounts.add({ definition, account: "second", config: 1 });
  accounts.add({ definition, account: "third", config: 1 });
  await accounts.start(services);
  const add = [{ definition, account: "second", config: 2 }];
  await accounts.change({ remove: [{ channel: "echo", account: "third" }], add }, 0);
  expect(started.slice(3)).toEqual(["second 2"]);
  expect(ended.toSorted()).toEqual(["second", "third"]);
  expect(accounts.health().map(({ account }) => account)).toEqual(["main", "second"]);
  expect(accounts.get("echo", "third")).toBeUndefined();
});

/** Leases that several hosts share. */
function createLeases() {
  const holders = new Map<string, AbortController>();
  return {
    acquire: (): NonNullable<AccountServices["acquireLease"]> => async (channel, account) => {
      const key = `${channel}/${account}`;
      if (holders.has(key)) return undefined;
      const lost = new AbortController();
      holders.set(key, lost);
      return { lost: lost.signal, release: async () => void holders.delete(key) };
    },
    /** Revokes all leases. */
    revoke() {
      for (const lost of holders.values()) lost.abort();
    },
  };
}

it("listens on one of several hosts, and on the next when that one stops", async () => {
  const leases = createLeases();
  const started: string[] = [];
  const one = createHost(createChannel(async () => void started.push("one")));
  const two = createHost(createChannel(async () => void started.push("two")));
  await one.accounts.start({ ...services, acquireLease: leases.acquire() });
  await two.accounts.start({ ...services, acquireLease: leases.acquire() });
  expect(one.accounts.get("echo", "main")).toBeDefined();
  // The account can send and accept webhooks on every host.
  expect(two.accounts.get("echo", "main")).toBeDefined();
  expect(two.accounts.health()).toMatchObject([{ state: "down", reason: "another host runs it" }]);
  expect(started).toEqual(["one"]);
  await one.accounts.stop(0);
  two.delays[0]?.end();
  await expect.poll(() => started).toEqual(["one", "two"]);
  expect(two.accounts.health()).toEqual([{ channel: "echo", account: "main", state: "ready" }]);
});

it("can still send if its lease cannot be requested", async () => {
  const { accounts, delays } = createHost(createChannel(async () => {}));
  const answers: (() => Promise<undefined>)[] = [
    async () => undefined,
    () => Promise.reject(new Error("the database is away")),
    async () => undefined,
  ];
  let requests = 0;
  const acquireLease = async (): Promise<undefined> => answers[requests++]?.();
  await accounts.start({ ...services, acquireLease });
  const account = accounts.get("echo", "main");
  delays[0]?.end();
  await expect.poll(() => delays).toHaveLength(2);
  expect(accounts.get("echo", "main")).toBe(account);
  delays[1]?.end();
  await expect.poll(() => requests).toBe(3);
  expect(accounts.get("echo", "main")).toBe(account);
  await accounts.stop(0);
});

it("cannot send over a connection that another host has", async () => {
  const leases = createLeases();
  const definition: ChannelDefinition = {
    ...createChannel(async () => {}),
    sendsOverConnection: () => true,
  };
  const one = createHost(definition);
  const two = createHost(definition);
  const webhook = createHost(createChannel(async () => {}));
  await one.accounts.start({ ...services, acquireLease: leases.acquire() });
  await two.accounts.start({ ...services, acquireLease: leases.acquire() });
  await webhook.accounts.start({ ...services, acquireLease: leases.acquire() });
  expect(one.accounts.unableToSend()).toEqual([]);
  expect(two.accounts.unableToSend()).toEqual([{ channel: "echo", account: "main" }]);
  expect(webhook.accounts.unableToSend()).toEqual([]);
  await one.accounts.stop(0);
  two.delays[0]?.end();
  await expect.poll(() => two.accounts.unableToSend()).toEqual([]);
  await two.accounts.stop(0);
});

it("releases the lease of an account that fails to start", async () => {
  const leases = createLeases();
  const one = createHost(
    createChannel(async () => {
      throw new Error("no network");
    }),
  );
  const two = createHost(createChannel(async () => {}));
  await one.accounts.start({ ...services, acquireLease: leases.acquire() });
  await two.accounts.start({ ...services, acquireLease: leases.acquire() });
  expect(two.accounts.get("echo", "main")).toBeDefined();
});

it("stops an account whose lease is lost, and tries to acquire it again", async () => {
  const leases = createLeases();
  const seen: string[] = [];
  const definition = createChannel(async () => {});
  const observed: ChannelDefinition = {
    ...definition,
    create: async (context) => {
      context.signal.addEventListener("abort", () => seen.push("aborted"));
      const channel = await definition.create(context);
      return { ...channel, stop: async () => void seen.push("stopped") };
    },
  };
  const { accounts, delays } = createHost(observed);
  await accounts.start({ ...services, acquireLease: leases.acquire() });
  leases.revoke();
  await expect.poll(() => delays).toHaveLength(1);
  expect(seen.toSorted()).toEqual(["aborted", "stopped"]);
  expect(accounts.get("echo", "main")).toBeUndefined();
  // Another host holds the lease by now. The account can send again, and does not listen.
  delays[0]?.end();
  await expect.poll(() => accounts.get("echo", "main")).toBeDefined();
  await expect.poll(() => delays).toHaveLength(2);
  expect(accounts.health()).toMatchObject([{ state: "down", reason: "another host runs it" }]);
  await accounts.stop(0);
});
