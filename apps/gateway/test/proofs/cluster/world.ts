import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { QUEUE_MODES, type QueueMode } from "@signalbox/lanes";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { startFeishu } from "@signalbox/testkit/feishu";
import { COMPILED } from "../../support/children.ts";
import { noCommands } from "../../support/no-commands.ts";
import { type Exit, type GatewayChild, TUNED_MAIN } from "../crash/child.ts";
import { isGroup, nameOf, RELAY_SESSIONS, relayOf, VENDOR_SESSIONS } from "../crash/conversation.ts";
import type { JudgedWorld } from "../crash/gather.ts";
import { nextTurn } from "../crash/next-turn.ts";
import { chatOf, startPlatform, toSender } from "../crash/platform.ts";
import { type Random, seeded } from "../crash/random.ts";
import { startRelays } from "../crash/relay-platform.ts";
import { countToCome } from "../crash/rest.ts";
import { asksForSummary, readConversation } from "../crash/seen.ts";
import type { Vendor } from "../crash/vendor.ts";
import { startVendor } from "../crash/vendors.ts";
import { answeredNames, relayIn, TOKEN } from "../crash/world.ts";
import type { DatabaseServer, ProofDatabase } from "./database.ts";
import { createNode, type Node } from "./nodes.ts";

const KEY = "key-of-the-model-0123456789";
const APP = { appId: "cli_cluster", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";
const MODEL = "anthropic/claude-sonnet-4-6";
const LEDGER = fileURLToPath(new URL("../crash/ledger.ts", import.meta.url));

/** Several for each node, so that each has seats. */
const AGENTS = ["worker-1", "worker-2", "worker-3", "worker-4", "worker-5"] as const;
/** Differences of the nodes' clocks from the right time, in milliseconds. More than the duration of a lease. */
const SKEWS_MS = [0, 7_000, -7_000] as const;
/** Duration of the gateway's leases on a shared store, in milliseconds. */
const LEASE_MS = 5_000;
/** Delay after which an answer has a draft, in milliseconds. */
const DRAFT_MS = 20;
/** Interval at which platforms fail, in milliseconds. */
const FAULT_EVERY_MS = 2_000;
/** Maximum number of attempts to start a gateway. Each failure is reported. */
const MAX_STARTS = 10;
/** Time limit for everything to come to rest, in milliseconds. */
const REST_MS = 330_000;

export interface ClusterOptions {
  readonly random: Random;
  readonly server: DatabaseServer;
  /** Number of conversations on Feishu. */
  readonly sessions: number;
  /** Number of gateways, at most three. Default: 3. */
  readonly nodes?: number;
  /** Longest pause of a person between two messages, in milliseconds. */
  readonly pauseMs: number;
  /** The handling of messages that arrive during a run. Default: one that the seed chooses. */
  readonly mode?: QueueMode;
  /** Duration of leases, in milliseconds. Default: that of the gateway. */
  readonly leaseMs?: number;
  /** `main.ts` beside another build. */
  readonly main?: string;
  readonly restMs?: number;
  /**
   * True if a process may end because it did not renew its leases in time, as on a very slow machine. Default: false,
   * which reports it.
   */
  readonly mayLoseLeases?: boolean;
}

/** Gateways with separate homes on one database, the vendors' fake servers, and people who write all the time. */
export interface ClusterWorld extends JudgedWorld {
  readonly nodes: readonly Node[];
  readonly database: ProofDatabase;
  readonly server: DatabaseServer;
  /** Duration of leases, in milliseconds. */
  readonly leaseMs: number;
  /** Sentences about processes that ended although nothing had happened to them. */
  readonly unexpected: readonly string[];
  /** Lets a process end. Its exit is then not reported. */
  expectExit(child: GatewayChild): void;
  /** Starts all nodes that are down, as a service manager does. */
  startAll(): Promise<void>;
  /** Lets everything come to its end, then stops the gateways as a service manager does. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export async function openCluster(options: ClusterOptions): Promise<ClusterWorld> {
  const { random, server, sessions } = options;
  const dir = mkdtempSync(join(tmpdir(), "signalbox-cluster-"));
  const database = await server.create();
  const workspaces = AGENTS.map((agent) => join(dir, "workspaces", agent));
  for (const folder of workspaces) mkdirSync(folder, { recursive: true });
  const quiet = new Set<string>();
  const anthropic = await startAnthropic({
    apiKeys: [KEY],
    script(request) {
      if (!asksForSummary(request)) {
        const { open } = readConversation(request);
        for (const tag of open) if (tag.kind === "silent" && open.length === 1) quiet.add(nameOf(tag));
      }
      return nextTurn(request);
    },
  });
  const people = Array.from({ length: sessions }, (_, session) => session);
  const users = Object.fromEntries(
    people.map((session) => [toSender(session), { name: `Person ${session}` }]),
  );
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION, users });
  const relays = await startRelays(seeded(random.int(0, 1e9)));
  const vendors = new Map<number, Vendor>();
  const nowhere = { token: TOKEN, agent: AGENTS[0], url: () => undefined };
  const access = { ...nowhere, reader: { agent: AGENTS[0], inbox: dir } };
  const [discord, slack, telegram] = VENDOR_SESSIONS;
  for (const [session, name] of [discord, slack, telegram])
    vendors.set(session, await startVendor[name](access));
  const mode = options.mode ?? random.pick(QUEUE_MODES);
  const isSandboxed = noCommands === undefined;

  const ledger = {
    command: process.execPath,
    args: [LEDGER, join(workspaces[0] ?? dir, "effects.log")],
    env: { NODE_COMPILE_CACHE: COMPILED },
    startMs: 60_000,
  };
  const agentOf = (session: number): string => AGENTS[session % AGENTS.length] ?? AGENTS[0];
  const channelsOf = [
    ...RELAY_SESSIONS.map((session) => [session, relayOf(session)] as const),
    ...[discord, slack, telegram],
  ];
  const configure = (name: string) => (port: number) => ({
    gateway: { port: 0, node: name, auth: { token: TOKEN }, logLevel: "warn" },
    store: { url: `postgres://signalbox@127.0.0.1:${port}/${database.name}` },
    models: { providers: { anthropic: { api: "anthropic-messages", apiKey: KEY, baseUrl: anthropic.url } } },
    agents: {
      defaults: { heartbeat: { enabled: false } },
      list: AGENTS.map((id, index) => ({
        id,
        model: MODEL,
        workspaceDir: workspaces[index],
        tools: {
          allow: [
            ...["read", "write", "exec", "process", "message", "cron", "sessions_spawn"],
            "mcp__ledger__enter",
          ],
        },
      })),
    },
    bindings: [
      ...people.map((session) => ({
        agent: agentOf(session),
        match: {
          channel: "feishu",
          peer: isGroup(session)
            ? { kind: "group", id: chatOf(session) }
            : { kind: "direct", id: toSender(session) },
        },
      })),
      ...channelsOf.map(([session, channel]) => ({ agent: agentOf(session), match: { channel } })),
    ],
    tools: { exec: { sandbox: isSandboxed ? "bubblewrap" : "none" } },
    // Every gateway starts its servers, which takes as long as to start the gateway.
    mcp: { servers: { ledger } },
    channels: {
      feishu: { accounts: { main: { ...APP, verificationToken: VERIFICATION, baseUrl: feishu.url } } },
      ...Object.fromEntries(RELAY_SESSIONS.map((session) => relayIn(session, relays))),
      ...Object.fromEntries(
        [discord, slack, telegram].map(([session, channel]) => [
          channel,
          { accounts: { main: vendors.get(session)?.account } },
        ]),
      ),
    },
    session: { queue: { mode, cap: 10_000 } },
    access: {
      dm: "open",
      groups: { mode: "open" },
      owners: [
        ...Object.keys(users).map((id) => `feishu:${id}`),
        ...RELAY_SESSIONS.map((session) => `${relayOf(session)}:${toSender(session)}`),
        ...[discord, slack, telegram].map(
          ([session, channel]) => `${channel}:${vendors.get(session)?.person}`,
        ),
      ],
    },
  });

  const nodes: Node[] = [];
  for (const [index, skewMs] of SKEWS_MS.slice(0, options.nodes).entries()) {
    const name = `node-${index + 1}`;
    nodes.push(
      await createNode({
        name,
        home: join(dir, name),
        target: server.port(),
        configure: configure(name),
        main: options.main ?? TUNED_MAIN,
        env: {
          SIGNALBOX_SKEW_MS: String(skewMs),
          SIGNALBOX_DRAFT_MS: String(DRAFT_MS),
          ...(options.leaseMs === undefined ? {} : { SIGNALBOX_LEASE_MS: String(options.leaseMs) }),
        },
      }),
    );
  }

  /** A load balancer that does not know yet which nodes are down. */
  const url = (): string | undefined => {
    const urls = nodes.flatMap((node) => node.url() ?? []);
    return urls[random.int(0, urls.length - 1)];
  };
  const platform = startPlatform({
    feishu,
    relayToken: relays.token,
    vendors,
    random,
    sessions,
    ahead: 3,
    pauseMs: options.pauseMs,
    url,
    wish: () => undefined,
    without: isSandboxed ? [] : ["background"],
    answered: answeredNames(feishu, relays, vendors, quiet),
  });

  const faults = seeded(random.int(0, 1e9));
  let breaks = 0;
  const failing = setInterval(() => {
    if (faults.chance(0.5)) feishu.fail({ kind: faults.pick(["rate", "status", "cut"]) });
    for (const vendor of vendors.values()) {
      if (!faults.chance(0.2)) continue;
      vendor.fail(faults);
      breaks += 1;
    }
  }, FAULT_EVERY_MS);
  const heal = (): void => {
    clearInterval(failing);
    feishu.heal();
    relays.heal();
    for (const vendor of vendors.values()) vendor.heal();
  };

  const children: GatewayChild[] = [];
  const expected = new Set<GatewayChild>();
  const unexpected: string[] = [];
  const watch = (node: Node, child: GatewayChild): void => {
    children.push(child);
    breaks += 1;
    void child.exited.then((exit) => {
      const isFailStop =
        isUndecided(child, exit) || (options.mayLoseLeases === true && isFenced(child, exit));
      const isExpected = expected.has(child) || isFailStop;
      if (!isExpected) unexpected.push(describeExit(node, child, exit));
    });
  };
  const expectExit = (child: GatewayChild): void => void expected.add(child);
  const startAll = async (): Promise<void> => {
    for (let tries = 1; ; tries += 1) {
      const down = nodes.filter((node) => node.child() === undefined);
      const started = await Promise.allSettled(down.map((node) => node.start((child) => watch(node, child))));
      const failed = started.find((one) => one.status === "rejected");
      if (failed === undefined) return;
      if (tries === MAX_STARTS) throw failed.reason;
    }
  };

  return {
    nodes,
    database,
    server,
    leaseMs: options.leaseMs ?? LEASE_MS,
    workspaces,
    mode,
    feishu,
    relays,
    vendors,
    anthropic,
    platform,
    unexpected,
    expectExit,
    wasTurned: () => false,
    breaks: () => breaks,
    logs: () => children.map((child) => child.said()),
    secrets: [
      ...[KEY, TOKEN, APP.appSecret, VERIFICATION, relays.token],
      ...[...vendors.values()].flatMap((vendor) => vendor.secrets),
    ],
    openStore: database.openStore,
    startAll,
    async settle() {
      await platform.finish();
      heal();
      await waitForRest(database, startAll, options.restMs ?? REST_MS);
      await stopAll(nodes, expectExit);
    },
    async close() {
      for (const child of children) {
        expectExit(child);
        child.signal("SIGKILL");
        await child.exited;
      }
      heal();
      void platform.finish();
      const servers = [anthropic, feishu, relays, ...vendors.values()];
      await Promise.all(servers.map((one) => one.stop()));
      await Promise.all(nodes.map(({ proxy }) => proxy.close()));
      await database.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A process that lost a lease ends itself with this code and says so. */
function isFenced(child: GatewayChild, { code }: Exit): boolean {
  return code === 1 && /another node runs|lease/.test(child.said().slice(-LOG_END));
}

/**
 * A process ends itself if a server that crashed during a commit may have given the id of the transaction to another
 * one, so that nobody can know the outcome. The next process reads what was stored.
 */
function isUndecided(child: GatewayChild, { code }: Exit): boolean {
  return code === 1 && child.said().slice(-LOG_END).includes("it is unknown whether the server committed");
}

/** The end of the log says why a process ended. */
const LOG_END = 600;

function describeExit({ name }: Node, child: GatewayChild, { code, signal }: Exit): string {
  return `ended: ${name} ended with ${code ?? signal} although nothing had happened to it: …${child.said().slice(-LOG_END)}`;
}

async function stopAll(nodes: readonly Node[], expectExit: (child: GatewayChild) => void): Promise<void> {
  for (const node of nodes) {
    const child = node.child();
    if (child === undefined) continue;
    expectExit(child);
    child.signal("SIGTERM");
    const { code } = await child.exited;
    if (code !== 0) throw new Error(`${node.name} ended with ${code} after SIGTERM:\n${child.said()}`);
  }
}

/** Waits until no message waits for its end, no reply for its way out, and nothing is to come by itself. */
async function waitForRest(
  database: ProofDatabase,
  startAll: () => Promise<void>,
  restMs: number,
): Promise<void> {
  const deadline = performance.now() + restMs;
  for (let times = 0; ; await sleep(100)) {
    await startAll();
    const open = await database.query<{ what: string }>(
      `SELECT 'message ' || seq || ' ' || state || ' of ' || lease_name AS what FROM inbox WHERE settled_at IS NULL
       UNION ALL SELECT 'reply ' || seq || ' ' || state || ' on ' || channel || coalesce(': ' || error, '') FROM outbox
         WHERE state IN ('pending', 'sending')`,
    );
    const toCome = open.length > 0 ? 0 : await countAllToCome(database);
    // What a message leads to may be read a moment too early.
    times = open.length + toCome === 0 ? times + 1 : 0;
    if (times === 2) return;
    if (performance.now() < deadline) continue;
    const words = open.slice(0, 8).map(({ what }) => what);
    const approvals = await database.query<{ question: string }>(
      "SELECT question FROM approval WHERE state = 'pending'",
    );
    const asked = approvals.map(({ question }) => question.slice(0, 200)).join(", ");
    throw new Error(
      `the cluster did not come to rest: ${open.length} and ${toCome} to come: ${words.join(", ")}; pending approvals: ${asked || "none"}`,
    );
  }
}

async function countAllToCome(database: ProofDatabase): Promise<number> {
  const store = await database.openStore();
  try {
    return await countToCome(store);
  } finally {
    await store.close();
  }
}
