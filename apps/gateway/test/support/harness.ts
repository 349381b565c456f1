import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Tool } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import { formatProblem } from "@signalbox/config";
import type { DraftTiming } from "@signalbox/delivery";
import {
  gatewayToken,
  type Home,
  locateHome,
  openVault,
  prepareHome,
  readConfig,
  rereadConfig,
} from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import { openStore } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import type { Script, ScriptedTurn } from "@signalbox/testkit";
import { type FakeAnthropic, startAnthropic } from "@signalbox/testkit/anthropic";
import { type FakeFeishu, startFeishu } from "@signalbox/testkit/feishu";
import { createSessionTaint, type Sandbox, type TaintSource } from "@signalbox/tools";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { SCRATCH } from "../../../../scripts/scratch.ts";
import { execSandbox, type StartExecSandbox } from "../../src/configure/exec-sandbox.ts";
import type { Reloaded } from "../../src/configure/reload.ts";
import { resolveConfig } from "../../src/configure/resolve-config.ts";
import { startGateway } from "../../src/gateway.ts";
import type { Gateway, GatewayOptions } from "../../src/gateway-options.ts";
import type { GatewayHook } from "../../src/hooks/hook-points.ts";
import type { GatewayBodies, GatewayStore } from "../../src/store.ts";
import { type Failpoints, failpointInstrument } from "../proofs/crash/failpoints.ts";
import { type Child, endChild, listeningChild, type StartedChild, spawnProgram } from "./children.ts";
import { type Ended, runCommand } from "./command.ts";
import { eventually } from "./eventually.ts";

export { eventually };

/** As long and mixed as those that the gateway makes: of any other it estimates at each start how it can be guessed. */
export const TOKEN = "token-of-the-owner-0123456789-abcdefghijklm";
export const KEY = "key-of-the-model-0123456789";
export const APP = {
  appId: "cli_0123456789abcdef",
  appSecret: "secret-of-the-feishu-app",
  verificationToken: "verification-of-the-app",
  encryptKey: "encryption-of-the-app",
};
/** Who writes in the example, and somebody else. */
export const ZHANG = "ou_881e8247625e31527b4d15a31471504c";
export const LI = "ou_2222222222222222222222222222222b";

type Settings = Readonly<Record<string, unknown>>;
type Env = Readonly<Record<string, string | undefined>>;

/** A home with fake servers for the vendors beside it; gone when its test ends. */
export interface World {
  readonly dir: string;
  readonly home: Home;
  readonly env: Env;
  readonly feishu: FakeFeishu;
  readonly anthropic: FakeAnthropic;
  /** What the model answers from now on; counted from its first request in this world. */
  script(script: Script): void;
  /** Writes the configuration: a YAML text as it is, or values. */
  configure(config: Settings | string): void;
  /** Writes files into the workspace of `coder`. */
  files(files: Readonly<Record<string, string>>): void;
  /** Starts a gateway in this process. It is stopped when the test ends. */
  start(options?: StartOptions): Promise<Started>;
  /** Runs a command of the built command line that ends by itself, in this process. */
  command(args: readonly string[], env?: Env): Promise<Ended>;
  /** Starts the built command line, or another program that takes its arguments, as a process of its own. */
  run(args: readonly string[], env?: Env, main?: string, input?: string): Child;
  /** `signalbox start`, once it listens. It is killed when the test ends. */
  startChild(args?: readonly string[], env?: Env): Promise<StartedChild>;
  /** The same with failpoints and short times, which `crash/main.ts` reads from the environment. */
  startTuned(env: Env): Promise<StartedChild>;
}

export interface StartOptions {
  readonly hooks?: readonly GatewayHook[];
  /** Channels besides the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[];
  readonly failpoints?: Failpoints;
  /** Default: drafts as in use, too late for what most tests write. */
  readonly drafts?: DraftTiming;
  /** Private hosts that the browsers of agents may reach. Default: none, as in use. */
  readonly browserEgress?: GatewayOptions["browserEgress"];
  /** Default: as in use. */
  readonly leaseMs?: number;
  /** Default: `Date.now`. */
  readonly now?: () => number;
  /** What comes by itself is waited for by this clock, whose time it is. Default: the machine's. */
  readonly clock?: Clock;
}

export interface Started {
  readonly gateway: Gateway;
  readonly url: string;
  readonly problems: readonly string[];
  /** Everything logged, at every level, as it would reach the log. */
  readonly log: () => string;
  /** Posts an event to the Feishu account `main` as Feishu would. */
  post(event: unknown, options?: Parameters<FakeFeishu["postEvent"]>[2]): Promise<Response>;
  /** Reads the configuration again, as its file has it now. */
  reload(): Promise<Reloaded>;
  /** Resolves when every message has its end and every reply is out. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("../../dist/signalbox.js", import.meta.url));
const TUNED = fileURLToPath(new URL("../proofs/crash/main.ts", import.meta.url));
/** The console as it was built into the command line. */
const CONSOLE = fileURLToPath(new URL("../../dist/assets/console", import.meta.url));

const sandboxes = new Map<string, Promise<Sandbox>>();

/** One for all gateways of this process without programs of their own: each proof takes three processes. */
const sharedSandbox: StartExecSandbox = (config, programsDir) => {
  const setting = JSON.stringify([config.tools.exec, existsSync(programsDir) ? programsDir : ""]);
  const started = sandboxes.get(setting) ?? execSandbox(config, programsDir);
  sandboxes.set(setting, started);
  return started;
};

export async function openWorld(): Promise<World> {
  const dir = mkdtempSync(join(SCRATCH, "signalbox-test-"));
  let script: Script = [];
  const anthropic = await startAnthropic({
    apiKeys: [KEY],
    script: async (body, index): Promise<ScriptedTurn> => {
      const turn = typeof script === "function" ? await script(body, index) : script[index];
      return turn ?? { error: { status: 400, message: `no turn ${index} is scripted` } };
    },
  });
  const feishu = await startFeishu({
    appId: APP.appId,
    appSecret: APP.appSecret,
    verificationToken: APP.verificationToken,
    encryptKey: APP.encryptKey,
    users: { [ZHANG]: { name: "张三" }, [LI]: { name: "李四" } },
  });
  const closing: (() => unknown)[] = [];
  onTestFinished(async () => {
    for (const close of closing.reverse()) await close();
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });

  const env: Env = {
    HOME: dir,
    PATH: process.env["PATH"],
    ANTHROPIC_KEY: KEY,
    ANTHROPIC_URL: anthropic.url,
    FEISHU_SECRET: APP.appSecret,
    FEISHU_URL: feishu.url,
  };
  const home = locateHome(join(dir, "home"), env);
  prepareHome(home);
  const atHome = (args: readonly string[]): readonly string[] =>
    args.includes("--home") || args[0] === "replay" ? args : [...args, "--home", home.dir];
  const run: World["run"] = (args, extra = {}, main = MAIN, input = "") => {
    if (!existsSync(main)) throw new Error(`${main} is missing: build the gateway first`);
    const child = spawnProgram([main, ...atHome(args)], { ...env, ...extra }, input);
    closing.push(() => endChild(child));
    return child;
  };

  return {
    dir,
    home,
    env,
    feishu,
    anthropic,
    script: (given) => {
      script = given;
    },
    configure: (config) =>
      writeFileSync(home.configFile, typeof config === "string" ? config : stringify(config)),
    files(files) {
      for (const [path, text] of Object.entries(files)) {
        const file = join(home.workspace("coder"), path);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    },
    async start({
      hooks = [],
      channels = [],
      tools = [],
      failpoints,
      drafts,
      browserEgress,
      leaseMs,
      clock,
      now,
    } = {}) {
      const loaded = readConfig(home, env);
      let logged = "";
      const sink = new Writable({
        write(chunk, _encoding, done) {
          logged += String(chunk);
          done();
        },
      });
      const token = gatewayToken(loaded, home, env);
      const vault = openVault(loaded, env, token.value);
      const logger = createLogger("trace", vault.redact, sink);
      const plan = await resolveConfig({ home, loaded, logger, env, channels, tools, vault });
      const fatal: Error[] = [];
      const gateway = await startGateway(
        {
          home,
          loaded,
          token,
          logger,
          vault,
          env,
          hooks,
          channels,
          tools,
          consoleDir: CONSOLE,
          readsConfigFile: true,
          execSandbox: sharedSandbox,
          ...(failpoints === undefined ? {} : { instrument: failpointInstrument(failpoints) }),
          drafts,
          ...(browserEgress === undefined ? {} : { browserEgress }),
          leaseMs,
          now,
          ...(clock === undefined ? {} : { clock, now: clock.now }),
          onFatal: (error) => fatal.push(error),
        },
        plan,
      );
      const stop = async () => {
        await gateway.stop();
        const error = fatal.shift();
        if (error !== undefined) throw error;
      };
      closing.push(stop);
      await gateway.connected;
      return {
        gateway,
        url: gateway.url,
        problems: plan.problems.map(formatProblem),
        log: () => logged,
        post: (event, options) =>
          feishu.postEvent(`${gateway.url}/channels/feishu/main/events`, event, options),
        reload: () => gateway.reload((applied) => rereadConfig(home, env, applied)),
        settled: () =>
          eventually(async () => {
            const { inboxPending, outboxPending } = await gateway.service.status();
            if (inboxPending > 0 || outboxPending > 0) return false;
            const { body } = await gateway.service.metrics();
            return !/^signalbox_(?:runs_active|outbox_sending) (?!0$)/m.test(body);
          }, "the gateway comes to rest"),
        stop,
      };
    },
    command: (args, extra = {}) => runCommand(atHome(args), { ...env, ...extra }),
    run,
    startChild: (args = [], extra = {}) => listeningChild(run(["start", ...args], extra), feishu),
    startTuned: (extra) => listeningChild(run(["start"], extra, TUNED), feishu),
  };
}

/** The configuration of the example: a coder on Feishu with Anthropic behind it. `more` replaces whole parts. */
export function exampleConfig(more: Settings = {}): Settings {
  return {
    gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn" },
    models: {
      providers: {
        anthropic: { api: "anthropic-messages", apiKey: "${ANTHROPIC_KEY}", baseUrl: "${ANTHROPIC_URL}" },
      },
    },
    agents: {
      defaults: {
        model: "anthropic/claude-sonnet-4-6",
        systemPrompt:
          "你是一个全栈开发助手，擅长编写脚本和解释代码。\n用户当前通过飞书与你对话，请用中文回复。\n",
      },
      list: [
        {
          id: "coder",
          name: "代码助手",
          tools: { allow: ["read", "write", "edit", "ls", "exec", "message"] },
          skills: { allow: ["create-python-script"] },
        },
      ],
    },
    channels: { feishu: { accounts: { main: feishuAccount() } } },
    access: { dm: "open", groups: { mode: "open" } },
    ...more,
  };
}

export function feishuAccount(more: Settings = {}): Settings {
  return {
    appId: APP.appId,
    appSecret: "${FEISHU_SECRET}",
    verificationToken: APP.verificationToken,
    encryptKey: APP.encryptKey,
    baseUrl: "${FEISHU_URL}",
    ...more,
  };
}

/** A configuration without any model key, for the demo model. */
export function demoConfig(more: Settings = {}): Settings {
  return { gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn" }, ...more };
}

/** Looks into the database beside the gateway. */
export async function inStore<T>(world: World, look: (store: GatewayStore) => Promise<T>): Promise<T> {
  const store = await openStore<GatewayBodies>({ path: world.home.databaseFile });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** What tainted the conversation that the world has. */
export function taintIn(world: World): Promise<readonly TaintSource[]> {
  return inStore(world, async (store) => {
    const [session] = await store.sessions.list();
    if (session === undefined) return [];
    return createSessionTaint(store.sessions, session).earlier.sources;
  });
}

/** What came in, in its order. */
export async function inboxRows(world: World) {
  const rows = await inStore(world, (store) => store.inbox.list());
  return rows.toSorted((a, b) => a.seq - b.seq);
}

/** How everything that came in ended, in its order: the state and the rule. */
export async function ends(world: World): Promise<unknown[]> {
  return (await inboxRows(world)).map(({ state, detail }) => [state, detail?.rule]);
}

/** The same, with the platforms' ids in front. */
export async function namedEnds(world: World): Promise<unknown[]> {
  return (await inboxRows(world)).map(({ messageId, state, detail }) => [messageId, state, detail?.rule]);
}
