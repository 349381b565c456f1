import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "@signalbox/tools";
import { expect, it, onTestFinished } from "vitest";
import { SCRATCH } from "../../../../scripts/scratch.ts";
import { type BrowsersOptions, createBrowsers, NEEDED_TOOLS } from "../../src/agent/browser/browsers.ts";

const SERVER = fileURLToPath(new URL("../support/fake-browser-server.mjs", import.meta.url));
const PROGRAMS = {
  serverDir: "/nonexistent",
  serverVersion: "0.0.83",
  coreDir: "/nonexistent",
  executable: "/nonexistent",
  executableDir: undefined,
};

/** Browsers whose MCP server is a fake one. Its processes are in `started`. */
function openPool(options: Partial<BrowsersOptions> = {}, tools: readonly string[] = NEEDED_TOOLS) {
  const dir = mkdtempSync(join(SCRATCH, "browser-pool-"));
  const started: ChildProcess[] = [];
  let now = 0;
  const sandbox = {
    level: "bubblewrap",
    open() {
      const child = spawn(process.execPath, [SERVER, ...tools], { stdio: "pipe" });
      started.push(child);
      return { child, stopped: undefined, kill: () => void child.kill("SIGKILL") };
    },
    // The browsers use nothing else of the sandbox.
  } as unknown as Sandbox;
  const browsers = createBrowsers({
    dir,
    settings: () => ({ maxBrowsers: 1 }),
    findPrograms: () => PROGRAMS,
    version: "1.0.0",
    logger: { debug: () => {}, warn: () => {} },
    now: () => now,
    startSandbox: async () => sandbox,
    ...options,
  });
  onTestFinished(async () => {
    await browsers.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const context = { signal: AbortSignal.timeout(60_000), resultChars: 1_000 };
  return {
    dir,
    started,
    browsers,
    /** Resolves with the id of the browser's process. */
    async call(agent: string, sessionKey: string, url = "https://example.org/"): Promise<string> {
      const browser = browsers.forAgent(agent);
      if (browser === undefined) throw new Error("there is no browser");
      const { content } = await browser.call("browser_navigate", { url }, sessionKey, context);
      return content.map((block) => (block.type === "text" ? block.text : "")).join("");
    },
    later: (ms: number) => {
      now += ms;
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

it("keeps a browser for its conversation, and gives the next conversation a new one", async () => {
  const { call, started, later, dir } = openPool();
  const first = await call("coder", "one");
  expect(await call("coder", "one")).toBe(first);
  await expect(call("coder", "two")).rejects.toThrow("Another conversation uses the browser.");
  writeFileSync(join(dir, "coder", "output", "bill.pdf"), "of the first conversation");
  later(120_000);
  expect(await call("coder", "two")).not.toBe(first);
  expect(started.map(hasEnded)).toEqual([true, false]);
  expect(existsSync(join(dir, "coder", "output", "bill.pdf"))).toBe(false);
});

it("bounds the number of browsers, and ends an unused one for another agent", async () => {
  const { call, started, later } = openPool();
  await Promise.all([call("coder", "one"), call("coder", "one")]);
  await expect(call("writer", "two")).rejects.toThrow("All browsers are in use by other agents.");
  later(120_000);
  await call("writer", "two");
  expect(started.map(hasEnded)).toEqual([true, false]);
});

it("starts a new browser after one has ended by itself", async () => {
  const { call, started } = openPool();
  const first = await call("coder", "one");
  await expect(call("coder", "one", "end:")).rejects.toThrow();
  await expect.poll(() => call("coder", "one").catch(String)).toMatch(/^\d+$/);
  expect(started[0]?.pid).toBe(Number(first));
  expect(started.filter((child) => !hasEnded(child))).toHaveLength(1);
});

it("ends a browser whose files are too large, and removes the storage of pages at the next start", async () => {
  const { call, started, dir } = openPool();
  await call("coder", "one");
  const storage = join(dir, "coder", "profile", "Default", "IndexedDB");
  const cookies = join(dir, "coder", "profile", "Default", "Cookies");
  mkdirSync(storage, { recursive: true });
  writeFileSync(cookies, "session");
  writeFileSync(join(storage, "huge"), "");
  truncateSync(join(storage, "huge"), 600_000_000);
  await expect.poll(() => started.every(hasEnded)).toBe(true);
  await call("coder", "one");
  expect(existsSync(storage)).toBe(false);
  expect(existsSync(cookies)).toBe(true);
});

it("follows no link that a browser has put in the place of a folder of its profile", async () => {
  const { call, dir } = openPool();
  const outside = join(dir, "outside");
  const profile = join(dir, "coder", "profile");
  mkdirSync(join(outside, "IndexedDB"), { recursive: true });
  mkdirSync(profile, { recursive: true });
  symlinkSync(outside, join(profile, "Default"));
  writeFileSync(join(profile, "large"), "");
  truncateSync(join(profile, "large"), 300_000_000);
  await call("coder", "one");
  expect(existsSync(join(outside, "IndexedDB"))).toBe(true);
});

it("removes the lock of a browser that was killed", async () => {
  const { call, dir } = openPool();
  mkdirSync(join(dir, "coder", "profile"), { recursive: true });
  writeFileSync(join(dir, "coder", "profile", "SingletonLock"), "");
  await call("coder", "one");
  expect(existsSync(join(dir, "coder", "profile", "SingletonLock"))).toBe(false);
});

it("names the missing tools of another version of the server, and leaves no process", async () => {
  const { call, started } = openPool({}, ["browser_navigate"]);
  await expect(call("coder", "one")).rejects.toThrow("lacks browser_navigate_back, browser_snapshot");
  await expect.poll(() => started.every(hasEnded)).toBe(true);
});

it("starts nothing without a sandbox, and nothing while it is turned off", async () => {
  const disabled = { level: "disabled", reason: "bubblewrap is not installed." } as unknown as Sandbox;
  const none = openPool({ startSandbox: async () => disabled });
  await expect(none.call("coder", "one")).rejects.toThrow("bubblewrap is not installed.");
  expect(openPool({ settings: () => undefined }).browsers.forAgent("coder")).toBeUndefined();
});

it("ends all browsers when the gateway stops", async () => {
  const { call, started, browsers } = openPool();
  await call("coder", "one");
  await browsers.close();
  expect(started.every(hasEnded)).toBe(true);
});
