import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reasonOf } from "@signalbox/agent-core";
import { QUEUE_MODES, type QueueMode } from "@signalbox/lanes";
import { openStore } from "@signalbox/store";
import { type FakeAnthropic, startAnthropic } from "@signalbox/testkit/anthropic";
import { type FakeFeishu, startFeishu } from "@signalbox/testkit/feishu";
import { stringify } from "yaml";
import type { GatewayBodies, GatewayStore } from "../../../src/store.ts";
import { COMPILED } from "../../support/children.ts";
import { noCommands } from "../../support/no-commands.ts";
import { type ChildOptions, type GatewayChild, startGateway, TUNED_MAIN } from "./child.ts";
import { answeredIn, type Kind, nameOf, RELAY_SESSIONS, relayOf, VENDOR_SESSIONS } from "./conversation.ts";
import { nextTurn } from "./next-turn.ts";
import { type Platform, startPlatform, toSender } from "./platform.ts";
import { type Random, seeded } from "./random.ts";
import { type RelayPlatform, startRelays } from "./relay-platform.ts";
import { waitForRest } from "./rest.ts";
import { asksForSummary, readConversation } from "./seen.ts";
import { TURN } from "./turned-clock.ts";
import type { Vendor } from "./vendor.ts";
import { startVendor } from "./vendors.ts";

/** As long and mixed as those that the gateway makes: of any other it estimates at each start how it can be guessed. */
export const TOKEN = "token-of-the-owner-0123456789-abcdefghijklm";
const AGENT = "worker";
/** It is sent files, in a workspace of its own. */
const READER = "reader";
const KEY = "key-of-the-model-0123456789";
const APP = { appId: "cli_crash", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";

/** Short enough that a life of a few seconds renews it, and that a stopped process loses it. */
export const LEASE_MS = 900;

/** Short enough that most answers, which take a few milliseconds, have a draft. */
const DRAFT_MS = 2;

export interface WorldOptions {
  readonly random: Random;
  readonly sessions: number;
  readonly ahead?: number;
  readonly pauseMs?: number;
  /** How messages that come while a run goes on are treated. Default: one that the seed chooses. */
  readonly mode?: QueueMode;
  /** What people write, wherever they can write any of it. Default: everything. */
  readonly only?: readonly [Kind, ...Kind[]];
  /** `main.ts` beside another build. */
  readonly main?: string;
  /**
   * How long it may take to come to rest, in milliseconds. Default: 330,000, since replies that failed wait up to five
   * minutes.
   */
  readonly restMs?: number;
  /** Whether the platforms fail now and then. Default: true. */
  readonly faults?: boolean;
  /** Where the home is made; default: the system's folder for temporary files. */
  readonly within?: string;
  /** Whether commands run in a sandbox, where there is one here. Default: true. */
  readonly sandbox?: boolean;
}

const LEDGER = fileURLToPath(new URL("./ledger.ts", import.meta.url));

// Commands go on in the background in a sandbox alone.
if (noCommands !== undefined) console.log(`skipped: ${noCommands}`);

/** Between two faults of Feishu, in milliseconds. */
const FAULT_EVERY_MS = 2_000;

/** A home, the vendors' fake servers, and people who write all the time. */
export interface World {
  readonly home: string;
  /** The folders in which the agents work. */
  readonly workspaces: readonly string[];
  /** Opens the database beside the gateways. */
  readonly openStore: () => Promise<GatewayStore>;
  readonly mode: QueueMode;
  readonly feishu: FakeFeishu;
  readonly relays: RelayPlatform;
  /** The platforms of the channels with a connection of their own, by their sessions. */
  readonly vendors: ReadonlyMap<number, Vendor>;
  /** Whether a process was started whose clock was to be turned. */
  readonly wasTurned: () => boolean;
  /** How often a process was started, and a vendor's platform went wrong. */
  readonly breaks: () => number;
  /** What every process said. */
  readonly logs: () => readonly string[];
  /** What must be in no log, request or message. */
  readonly secrets: readonly string[];
  readonly anthropic: FakeAnthropic;
  readonly platform: Platform;
  /** When the model was first asked about each message, in each process: by `performance.now()`. */
  readonly asked: readonly { readonly name: string; readonly at: number }[];
  /** Starts a gateway; the platform delivers to it from the moment it listens. */
  start(env?: Readonly<Record<string, string>>, limits?: Pick<ChildOptions, "fileBytes">): GatewayChild;
  /** What people on the relays write more often than else from now on. */
  wish(kind: Kind | undefined): void;
  /** Lets everything come to its end, then stops the gateway as a service manager does. */
  settle(gateway: GatewayChild): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const { random, sessions } = options;
  const isSandboxed = noCommands === undefined && options.sandbox !== false;
  const home = mkdtempSync(join(options.within ?? tmpdir(), "signalbox-crash-"));
  const workspace = join(home, "workspaces", "worker");
  mkdirSync(workspace, { recursive: true });
  const asked: { name: string; at: number }[] = [];
  const quiet = new Set<string>();
  const anthropic = await startAnthropic({
    apiKeys: [KEY],
    script(request) {
      const at = performance.now();
      if (asksForSummary(request)) return nextTurn(request);
      const { open } = readConversation(request);
      for (const tag of open) {
        asked.push({ name: nameOf(tag), at });
        if (tag.kind === "silent" && open.length === 1) quiet.add(nameOf(tag));
      }
      return nextTurn(request);
    },
  });
  const users = Object.fromEntries(
    Array.from({ length: sessions }, (_, session) => [toSender(session), { name: `Person ${session}` }]),
  );
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION, users });
  const mode = options.mode ?? random.pick(QUEUE_MODES);
  const relays = await startRelays(seeded(random.int(0, 1e9)));
  const vendors = new Map<number, Vendor>();
  let url: string | undefined;
  const inbox = join(home, "workspaces", READER, "inbox");
  const access = { token: TOKEN, agent: AGENT, url: () => url, reader: { agent: READER, inbox } };
  for (const [session, name] of VENDOR_SESSIONS) vendors.set(session, await startVendor[name](access));
  writeFileSync(
    join(home, "signalbox.yaml"),
    stringify({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn" },
      models: {
        providers: { anthropic: { api: "anthropic-messages", apiKey: KEY, baseUrl: anthropic.url } },
      },
      agents: {
        // What never ends by itself would have it wait for ever.
        defaults: { heartbeat: { enabled: false } },
        list: [
          {
            id: AGENT,
            model: "anthropic/claude-sonnet-4-6",
            workspaceDir: workspace,
            tools: {
              allow: [
                ...["read", "write", "exec", "process", "message", "cron", "sessions_spawn"],
                "mcp__ledger__enter",
              ],
            },
          },
          { id: READER, model: "anthropic/claude-sonnet-4-6" },
        ],
      },
      tools: { exec: { sandbox: isSandboxed ? "bubblewrap" : "none" } },
      mcp: {
        servers: {
          // On a busy machine a process takes its time, and a run goes on without the tools of one that takes longer.
          ledger: {
            command: process.execPath,
            args: [LEDGER, join(workspace, "effects.log")],
            env: { NODE_COMPILE_CACHE: COMPILED },
            startMs: 60_000,
          },
        },
      },
      channels: {
        feishu: {
          accounts: { main: { ...APP, verificationToken: VERIFICATION, baseUrl: feishu.url } },
        },
        ...Object.fromEntries(RELAY_SESSIONS.map((session) => relayIn(session, relays))),
        ...Object.fromEntries(
          VENDOR_SESSIONS.flatMap(([session, name]) => {
            const account = vendors.get(session)?.account;
            return account === undefined ? [] : [[name, { accounts: { main: account } }]];
          }),
        ),
      },
      session: { queue: { mode, cap: 10_000 } },
      access: {
        dm: "open",
        groups: { mode: "open" },
        owners: [
          ...Object.keys(users).map((id) => `feishu:${id}`),
          ...RELAY_SESSIONS.map((session) => `${relayOf(session)}:${toSender(session)}`),
          ...VENDOR_SESSIONS.flatMap(([session, name]) => {
            const person = vendors.get(session)?.person;
            return person === undefined ? [] : [`${name}:${person}`];
          }),
        ],
      },
    }),
  );

  let wish: Kind | undefined;
  const answered = answeredNames(feishu, relays, vendors, quiet);
  const platform = startPlatform({
    feishu,
    relayToken: relays.token,
    vendors,
    random,
    sessions,
    ahead: options.ahead ?? 3,
    pauseMs: options.pauseMs ?? 60,
    url: () => url,
    wish: () => wish,
    only: options.only,
    without: isSandboxed ? [] : ["background"],
    answered,
  });
  const children = new Set<GatewayChild>();
  const all: GatewayChild[] = [];
  const faults = seeded(random.int(0, 1e9));
  let wentWrong = 0;
  let isTurned = false;
  const failing = setInterval(() => {
    if (faults.chance(0.5)) feishu.fail({ kind: faults.pick(["rate", "status", "cut"]) });
    for (const vendor of vendors.values()) {
      if (!faults.chance(0.2)) continue;
      vendor.fail(faults);
      wentWrong++;
    }
  }, FAULT_EVERY_MS);
  const heal = (): void => {
    clearInterval(failing);
    feishu.heal();
    relays.heal();
    for (const vendor of vendors.values()) vendor.heal();
  };
  if (options.faults === false) heal();

  return {
    home,
    workspaces: [workspace],
    openStore: () => openStore<GatewayBodies>({ path: join(home, "signalbox.db") }),
    mode,
    feishu,
    relays,
    vendors,
    wasTurned: () => isTurned,
    breaks: () => all.length + wentWrong,
    logs: () => all.map((child) => child.said()),
    secrets: [
      ...[KEY, TOKEN, APP.appSecret, VERIFICATION, relays.token],
      ...[...vendors.values()].flatMap((vendor) => vendor.secrets),
    ],
    anthropic,
    platform,
    asked,
    start(env = {}, limits = {}) {
      isTurned ||= "SIGNALBOX_TURN_MS" in env;
      const child = startGateway(
        home,
        {
          SIGNALBOX_LEASE_MS: String(LEASE_MS),
          SIGNALBOX_DRAFT_MS: String(DRAFT_MS),
          ...env,
        },
        { ...limits, main: options.main ?? TUNED_MAIN },
      );
      children.add(child);
      all.push(child);
      child.listening.then(
        (found) => {
          url = found;
        },
        () => {},
      );
      void child.exited.then(() => {
        children.delete(child);
        url = undefined;
      });
      return child;
    },
    wish(kind) {
      wish = kind;
    },
    async settle(gateway) {
      const found = await gateway.listening;
      await platform.finish();
      heal();
      // What was scheduled by a clock that was ahead is due once that time has come.
      if (isTurned) gateway.signal(TURN);
      const rest = { home, url: found, token: TOKEN, restMs: options.restMs };
      await waitForRest(gateway, rest).catch((cause: unknown) => {
        throw new Error(`${reasonOf(cause)}:\n${gateway.said()}`, { cause });
      });
      await Promise.all([...vendors.values()].map((vendor) => vendor.look?.()));
      gateway.signal("SIGTERM");
      const { code } = await gateway.exited;
      if (code !== 0) throw new Error(`the gateway ended with ${code} after SIGTERM:\n${gateway.said()}`);
    },
    async close() {
      for (const child of children) {
        child.signal("SIGKILL");
        await child.exited;
      }
      heal();
      void platform.finish();
      const platforms = [feishu, relays, ...vendors.values()];
      await Promise.all([anthropic, ...platforms].map((server) => server.stop()));
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A relay channel as the configuration has it. */
export function relayIn(session: number, { url, token }: RelayPlatform): [string, object] {
  const name = relayOf(session) ?? "";
  const module = new URL(`./relay.ts?as=${name}`, import.meta.url).href;
  return [name, { package: module, accounts: { main: { url, token } } }];
}

/** Whether a message has a reply, or silence for one. Looks at what came since it was last asked. */
export function answeredNames(
  feishu: FakeFeishu,
  relays: RelayPlatform,
  vendors: ReadonlyMap<number, Vendor>,
  quiet: ReadonlySet<string>,
): (name: string) => boolean {
  const names = new Set<string>();
  let looked = 0;
  let lookedOn = 0;
  const read = (text: string): void => {
    for (const one of answeredIn(text)) names.add(one);
    for (const [, one] of text.matchAll(/side (s\d+\.\d+)!/g)) if (one) names.add(one);
    for (const [heard] of text.matchAll(/heard wake s\d+\.\d+!/g)) names.add(heard);
  };
  let lookedAt = 0;
  return (name) => {
    if (performance.now() - lookedAt > 20) {
      const { sent } = feishu;
      for (const { content, edits } of sent.slice(looked)) read(edits.at(-1) ?? content);
      for (const { content } of relays.posts.slice(lookedOn)) read(content);
      lookedOn = relays.posts.length;
      for (const vendor of vendors.values())
        for (const { content } of vendor.posts("").slice(-50)) read(content);
      // The latest may be drafts.
      looked = Math.max(0, sent.length - 200);
      lookedAt = performance.now();
    }
    return names.has(name) || quiet.has(name);
  };
}
