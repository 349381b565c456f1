import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { JsonObject, ToolResult } from "@signalbox/agent-core";
import type * as Tools from "@signalbox/tools";
import { SCRATCH } from "../../../../../../scripts/scratch.ts";
import type * as Pool from "../../../../src/agent/browser/browsers.ts";
import { findPrograms } from "../../../support/browser-site.ts";
import { type HostileSite, startHostileSite } from "./site.ts";

/** The parts of the browser that are attacked: from the sources, or from a copy without a check. */
export interface Parts {
  readonly pool: typeof Pool;
  readonly tools: typeof Tools;
}

interface World {
  readonly site: HostileSite;
  readonly parts: Parts;
  readonly dir: string;
  readonly browser: Tools.AgentBrowser;
  /** Calls a tool of the MCP server directly, as a model could not. Returns the text of the result or the error. */
  call(tool: string, args: JsonObject): Promise<string>;
}

/** A hostile page. Returns the damage, if the attack succeeds. */
type Attack = (world: World) => Promise<string | undefined>;

/** Time that a page gets for its attack, in milliseconds. */
const ATTACK_MS = 1_500;
const MAX_BOMB_BYTES = 400_000_000;

/** Opens a page, and returns the requests that reached the server inside. */
function reachesInside(path: string): Attack {
  return async ({ site, call }) => {
    const before = site.inside.length;
    await call("browser_navigate", { url: site.url + path });
    await setTimeout(ATTACK_MS);
    const reached = site.inside.slice(before);
    return reached.length > 0 ? `it reached ${reached[0]}` : undefined;
  };
}

export const BROWSER_ATTACKS: Readonly<Record<string, Attack>> = {
  "requests to private addresses": reachesInside("/fetch"),
  "a redirect to a metadata address": reachesInside("/redirect"),
  "a WebSocket to loopback": reachesInside("/socket"),
  "DNS rebinding": reachesInside("/rebinding"),
  "requests to the proxy itself": reachesInside("/proxy"),
  async "a file: address"({ site, call }) {
    await call("browser_navigate", { url: `${site.url}/file` });
    await setTimeout(ATTACK_MS);
    const texts = [
      await call("browser_snapshot", {}),
      await call("browser_navigate", { url: "file:///etc/passwd" }),
      await call("browser_navigate", { url: "view-source:file:///etc/passwd" }),
      await call("browser_navigate", { url: "chrome://version" }),
      await call("browser_snapshot", {}),
    ];
    return texts.some((text) => /agent:x:|Command Line|Profile Path/.test(text)) ? "it was shown" : undefined;
  },
  async popups({ site, call }) {
    await call("browser_navigate", { url: `${site.url}/popups` });
    await setTimeout(ATTACK_MS);
    const tabs = (await call("browser_tabs", { action: "list" })).match(/^- \d+:/gm)?.length ?? 0;
    return tabs > 1 ? `there are ${tabs} tabs` : undefined;
  },
  async "a service worker"({ site, call }) {
    await call("browser_navigate", { url: `${site.secureUrl}/worker` });
    await setTimeout(ATTACK_MS);
    await call("browser_navigate", { url: `${site.url}/` });
    const started = site.requests.filter((path) => path === "/worker.js" || path === "/beacon");
    return started.length > 0 ? "it was installed" : undefined;
  },
  /** The model does whatever the page says, and nobody approves anything. */
  async "instructions on a page"({ site, parts, browser, dir }) {
    const { createToolRunner, createRunState, createBrowserTools, openWorkspace } = parts.tools;
    const workspace = await openWorkspace({ dir });
    const runner = createToolRunner({
      tools: createBrowserTools({ browser, workspace, isKnownLink: () => true }),
      policy: { allow: ["*"] },
      record: () => {},
    });
    const state = createRunState({
      agentId: "coder",
      sessionKey: "s",
      role: "owner",
      channelKind: "direct",
      taint: [],
    });
    const run = runner.forRun(state);
    const how = (callId: string) => ({ callId, signal: AbortSignal.timeout(120_000) });
    const page = await run.call("browser_navigate", { url: `${site.url}/instructions` }, how("1"));
    const ref = /button "Read more".*?\[ref=(\w+)\]/.exec(getText(page))?.[1];
    if (ref === undefined) throw new Error(`the page has no button: ${getText(page)}`);
    await run.call("browser_click", { ref }, how("2"));
    await setTimeout(ATTACK_MS);
    return site.requests.includes("/bought") ? "the button was clicked" : undefined;
  },
  async "an endless download"({ site, call }) {
    await call("browser_navigate", { url: `${site.url}/bomb` });
    let before = -1;
    while (site.bombBytes() > before) {
      before = site.bombBytes();
      await setTimeout(2_000);
    }
    if (before === 0) throw new Error("the download did not begin");
    const megabytes = Math.round(before / 1_000_000);
    return before > MAX_BOMB_BYTES ? `it accepted ${megabytes} MB` : undefined;
  },
};

/** Runs attacks in a new browser. Returns the damages by the names of the attacks. */
export async function attack(parts: Parts, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const site = await startHostileSite();
  const dir = mkdtempSync(join(SCRATCH, "hostile-browser-"));
  const browsers = parts.pool.createBrowsers({
    dir,
    settings: () => ({ maxBrowsers: 1 }),
    findPrograms: () => findPrograms(dir),
    version: "1.0.0",
    logger: { debug: () => {}, warn: () => {} },
    now: Date.now,
    egress: { allow: site.allow, resolve: resolveHostileNames },
  });
  try {
    const browser = browsers.forAgent("coder");
    if (browser === undefined) throw new Error("agents' browsers are not available here");
    const call = async (tool: string, args: JsonObject): Promise<string> => {
      const context = { signal: AbortSignal.timeout(120_000), resultChars: 1_000_000 };
      return browser.call(tool, args, "s", context).then(getText, String);
    };
    // An attack that a browser which does not start could not carry out would prove nothing.
    const home = await call("browser_navigate", { url: `${site.url}/` });
    if (!home.includes("Page Title: Home")) throw new Error(`the browser does not work: ${home}`);
    const damages = new Map<string, string>();
    for (const name of names) {
      const damage = await BROWSER_ATTACKS[name]?.({ site, parts, dir, browser, call });
      if (damage !== undefined) damages.set(name, damage);
    }
    return damages;
  } finally {
    await browsers.close();
    site.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** All names lead to this machine. One of them also has a public address, which is never used. */
async function resolveHostileNames(host: string): Promise<readonly string[]> {
  if (host === "rebinding.test") return ["127.0.0.1", "93.184.215.14"];
  return host.endsWith(".test") || host.endsWith("localhost") ? ["127.0.0.1"] : [];
}

function getText({ content }: ToolResult): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
