import { join } from "node:path";
import { type JsonObject, reasonOf, type ToolResult } from "@signalbox/agent-core";
import { createMcpServers, type McpServers, type McpTool, toolPrefix } from "@signalbox/mcp";
import {
  type AgentBrowser,
  type EgressProxy,
  openWebProxy,
  PROXY_PORT,
  type Sandbox,
  type SandboxedProgram,
  startSandbox,
  type WebProxyOptions,
} from "@signalbox/tools";
import type { BrowserPrograms, MissingBrowser } from "../../configure/browser-programs.ts";
import { listDownloads, readDownload } from "./downloads.ts";
import { getFolderSize } from "./folder-size.ts";
import { type BrowserFolders, launchBrowser, prepareFolders } from "./launch.ts";

/** The browsers of all agents. Each is started by its first call. */
export interface Browsers {
  /** Returns the browser of an agent, or undefined if browsers are not enabled or cannot start. */
  forAgent(agentId: string): AgentBrowser | undefined;
  /** Ends all browsers, and rejects new ones. */
  close(): Promise<void>;
}

export interface BrowsersOptions {
  /** Folder with a folder for each agent. */
  readonly dir: string;
  /** Returns the current settings, or undefined if browsers are not enabled. */
  readonly settings: () => { readonly maxBrowsers: number } | undefined;
  readonly findPrograms: () => BrowserPrograms | MissingBrowser;
  readonly version: string;
  readonly logger: {
    debug(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Starts the sandbox. Default: one with the limits of a browser. */
  readonly startSandbox?: () => Promise<Sandbox>;
  /** Default: hosts on the public internet. */
  readonly egress?: Pick<WebProxyOptions, "allow" | "resolve"> | undefined;
  /** Default: {@link IDLE_MS}. */
  readonly idleMs?: number;
  /** Default: {@link HOLD_MS}. */
  readonly holdMs?: number;
}

/** Time after the last call after which a browser ends, in milliseconds. An approval can take ten minutes. */
const IDLE_MS = 900_000;
/** Time after its last call for which a conversation keeps the browser from others, in milliseconds. */
const HOLD_MS = 120_000;
/** Time limit for a call, in milliseconds. The first one starts the browser, which takes long on a busy machine. */
const CALL_MS = 120_000;
const START_MS = 60_000;
/** Maximum size of a profile and its downloads, in bytes. A browser that exceeds it is ended. */
const MAX_DISK_BYTES = 500_000_000;
const DISK_CHECK_MS = 1_000;
/** Limits for all processes of one browser. */
const LIMITS = {
  memoryBytes: 1_610_612_736,
  processes: 1_024,
  /** Maximum size of a file. The kernel ends a process that exceeds it. */
  diskBytes: 104_857_600,
  scratchBytes: 268_435_456,
  timeoutMs: 30_000,
};
const SERVER = "browser";
/** Tools that `@playwright/mcp` must have. */
export const NEEDED_TOOLS: readonly string[] = [
  "browser_navigate",
  "browser_navigate_back",
  "browser_snapshot",
  "browser_take_screenshot",
  "browser_click",
  "browser_type",
  "browser_select_option",
  "browser_press_key",
  "browser_handle_dialog",
  "browser_file_upload",
  "browser_tabs",
  "browser_wait_for",
];

/** A running browser. */
interface OpenBrowser {
  readonly sessionKey: string;
  readonly folders: BrowserFolders;
  readonly program: SandboxedProgram;
  readonly tools: ReadonlyMap<string, McpTool>;
  /** Number of calls in progress. */
  calls: number;
  /** Time of the last call, in milliseconds since the epoch. */
  usedAt: number;
  /** The reason why the gateway ended it. */
  problem: string | undefined;
  readonly end: () => Promise<void>;
}

/** Creates the browsers without starting any. */
export function createBrowsers(options: BrowsersOptions): Browsers {
  return new BrowserPool(options);
}

class BrowserPool implements Browsers {
  readonly #options: BrowsersOptions;
  readonly #open = new Map<string, OpenBrowser>();
  /** Starts and ends of browsers. They run one after the other, so that their number stays below the limit. */
  #changes: Promise<unknown> = Promise.resolve();
  #sandbox: Promise<Sandbox> | undefined;
  #isClosed = false;

  constructor(options: BrowsersOptions) {
    this.#options = options;
  }

  forAgent(agentId: string): AgentBrowser | undefined {
    const { settings, findPrograms } = this.#options;
    if (settings() === undefined || "key" in findPrograms()) return undefined;
    return {
      call: (tool, args, sessionKey, context) =>
        this.#use(agentId, sessionKey, (browser) => callTool(browser, tool, args, context)),
      listDownloads: (sessionKey) =>
        this.#use(agentId, sessionKey, ({ folders }) => listDownloads(folders.output)),
      readDownload: (name, sessionKey) =>
        this.#use(agentId, sessionKey, ({ folders }) => readDownload(folders.output, name)),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#changes.catch(() => {});
    await Promise.all([...this.#open.values()].map((browser) => browser.end()));
  }

  async #use<T>(agentId: string, sessionKey: string, work: (browser: OpenBrowser) => Promise<T>): Promise<T> {
    const browser =
      this.#takeRunning(agentId, sessionKey) ??
      (await this.#change(() => this.#acquire(agentId, sessionKey)));
    try {
      return await work(browser);
    } catch (error) {
      const { stopped } = browser.program;
      const limit = stopped === undefined ? browser.problem : `it used too many resources (${stopped})`;
      throw limit === undefined ? error : new Error(`The browser was ended: ${limit}.`, { cause: error });
    } finally {
      browser.calls -= 1;
      browser.usedAt = this.#options.now();
    }
  }

  /** Returns the running browser of a conversation without waiting for the start of other browsers. */
  #takeRunning(agentId: string, sessionKey: string): OpenBrowser | undefined {
    const running = this.#open.get(agentId);
    if (this.#isClosed || running?.sessionKey !== sessionKey) return undefined;
    running.calls += 1;
    return running;
  }

  /** Returns the browser for a call, which counts as in progress from now on. */
  async #acquire(agentId: string, sessionKey: string): Promise<OpenBrowser> {
    if (this.#isClosed) throw new Error("The gateway is stopping.");
    if (this.#options.settings() === undefined) throw new Error("The browser is turned off.");
    const running = this.#open.get(agentId);
    if (running !== undefined && running.sessionKey !== sessionKey) {
      if (this.#isHeld(running))
        throw new Error("Another conversation uses the browser. Try again in a few minutes.");
      // The next conversation must not see the pages of this one.
      await running.end();
    }
    const browser = this.#open.get(agentId) ?? (await this.#start(agentId, sessionKey));
    browser.calls += 1;
    return browser;
  }

  #isHeld({ calls, usedAt }: OpenBrowser): boolean {
    return calls > 0 || this.#options.now() - usedAt < (this.#options.holdMs ?? HOLD_MS);
  }

  async #start(agentId: string, sessionKey: string): Promise<OpenBrowser> {
    const { settings, findPrograms, dir, egress } = this.#options;
    const { maxBrowsers } = settings() ?? { maxBrowsers: 0 };
    if (this.#open.size >= maxBrowsers) await this.#endUnused();
    if (this.#open.size >= maxBrowsers)
      throw new Error("All browsers are in use by other agents. Try again in a few minutes.");
    const programs = findPrograms();
    if ("key" in programs)
      throw new Error(`The browser cannot start: ${programs.message}. ${programs.remedy}`);
    const sandbox = await this.#getSandbox();
    const folders = await prepareFolders(join(dir, agentId), isAlmostFull);
    const proxy = await openWebProxy(egress);
    try {
      const program = launchBrowser(sandbox, programs, folders, { proxy, proxyPort: PROXY_PORT });
      return await this.#connect(agentId, sessionKey, { folders, program, proxy });
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  /** Connects to the MCP server of a program. */
  async #connect(
    agentId: string,
    sessionKey: string,
    { folders, program, proxy }: Pick<OpenBrowser, "folders" | "program"> & { readonly proxy: EgressProxy },
  ): Promise<OpenBrowser> {
    const { version, now, logger } = this.#options;
    const servers = createMcpServers({
      servers: { [SERVER]: { start: async () => program.child, startMs: START_MS, callMs: CALL_MS } },
      version,
      now,
      onLog: (_, text) => logger.debug({ agent: agentId }, text),
    });
    const timers: NodeJS.Timeout[] = [];
    let ending: Promise<void> | undefined;
    const end = (): Promise<void> => {
      for (const timer of timers) clearInterval(timer);
      if (this.#open.get(agentId) === browser) this.#open.delete(agentId);
      ending ??= endBrowser(servers, program, proxy);
      return ending;
    };
    const tools = await listTools(servers).catch(async (error: unknown) => {
      await endBrowser(servers, program, proxy);
      throw error;
    });
    const browser: OpenBrowser = {
      sessionKey,
      folders,
      program,
      tools,
      calls: 0,
      usedAt: now(),
      problem: undefined,
      end,
    };
    this.#open.set(agentId, browser);
    program.child.once("exit", () => {
      if (program.stopped !== undefined)
        logger.warn({ agent: agentId, limit: program.stopped }, "a browser exceeded a limit and was ended");
      void end();
    });
    const { exitCode, signalCode } = program.child;
    if (exitCode !== null || signalCode !== null) {
      await end();
      throw new Error("The browser ended right after its start.");
    }
    timers.push(...this.#watch(agentId, browser));
    return browser;
  }

  /** Ends a browser that is not used, or whose files are too large. */
  #watch(agentId: string, browser: OpenBrowser): readonly NodeJS.Timeout[] {
    const { now, logger, idleMs = IDLE_MS } = this.#options;
    const checkIdle = (): void => {
      if (browser.calls === 0 && now() - browser.usedAt >= idleMs) void browser.end();
    };
    const checkDisk = async (): Promise<void> => {
      if (!(await isFull(browser.folders)) || browser.problem !== undefined) return;
      browser.problem = `its files have more than ${MAX_DISK_BYTES} bytes`;
      logger.warn({ agent: agentId, reason: browser.problem }, "a browser was ended");
      browser.program.kill();
    };
    return [
      setInterval(checkIdle, Math.min(idleMs, 10_000)).unref(),
      setInterval(() => void checkDisk(), DISK_CHECK_MS).unref(),
    ];
  }

  /** Ends the browser that was not used for the longest time, if no conversation holds it. */
  async #endUnused(): Promise<void> {
    const [oldest] = [...this.#open.values()]
      .filter((browser) => !this.#isHeld(browser))
      .toSorted((a, b) => a.usedAt - b.usedAt);
    await oldest?.end();
  }

  #getSandbox(): Promise<Sandbox> {
    const { startSandbox: start = () => startSandbox({ limits: LIMITS }) } = this.#options;
    this.#sandbox ??= start().then((sandbox) => {
      // Test the sandbox again at the next call, because the cause may no longer exist.
      if (sandbox.open === undefined) this.#sandbox = undefined;
      return sandbox;
    });
    return this.#sandbox;
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changes.then(work, work);
    this.#changes = done.catch(() => {});
    return done;
  }
}

async function listTools(servers: McpServers): Promise<ReadonlyMap<string, McpTool>> {
  const listed = await servers.tools(() => true);
  const prefix = toolPrefix(SERVER);
  const tools = new Map(listed.map((tool) => [tool.name.slice(prefix.length), tool]));
  const missing = NEEDED_TOOLS.filter((name) => !tools.has(name));
  if (missing.length === 0) return tools;
  const [problem] = servers.status().flatMap(({ notes }) => notes);
  throw new Error(
    tools.size === 0
      ? `The browser could not start: ${problem ?? "@playwright/mcp has no tools"}.`
      : `The installed version of @playwright/mcp lacks ${missing.join(", ")}.`,
  );
}

async function callTool(
  { tools }: OpenBrowser,
  name: string,
  args: JsonObject,
  { signal, resultChars }: Parameters<AgentBrowser["call"]>[3],
): Promise<ToolResult> {
  const tool = tools.get(name);
  if (tool === undefined) throw new Error(`The browser has no tool ${name}.`);
  const context = { signal, resultChars, update: () => {} };
  const output = await tool.execute({ id: name, name: tool.name, args }, context);
  if (typeof output === "object" && output !== null && "content" in output && Array.isArray(output.content))
    return output as ToolResult;
  throw new Error("The browser returned something else than a result.");
}

/** Ends a browser. It gets a moment to write its cookies. Never rejects. */
async function endBrowser(servers: McpServers, program: SandboxedProgram, proxy: EgressProxy): Promise<void> {
  await servers.close().catch((error: unknown) => reasonOf(error));
  program.kill();
  await proxy.close().catch(() => {});
}

async function isFull({ profile, output }: BrowserFolders): Promise<boolean> {
  const used = await getFolderSize(profile, MAX_DISK_BYTES);
  return used + (await getFolderSize(output, MAX_DISK_BYTES)) > MAX_DISK_BYTES;
}

async function isAlmostFull({ profile }: BrowserFolders): Promise<boolean> {
  return (await getFolderSize(profile, MAX_DISK_BYTES)) > MAX_DISK_BYTES / 2;
}
