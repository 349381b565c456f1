import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it, onTestFinished } from "vitest";
import { SCRATCH } from "../../../../scripts/scratch.ts";
import { createBrowsers } from "../../src/agent/browser/browsers.ts";
import { listDownloads, readDownload } from "../../src/agent/browser/downloads.ts";
import { findBrowserPrograms } from "../../src/configure/browser-programs.ts";
import {
  findPrograms,
  isRunning,
  listDescendants,
  resolveTestNames,
  whyNoAgentBrowser,
} from "../support/browser-site.ts";
import { from, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, type Started, type World, ZHANG } from "../support/harness.ts";
import { serve } from "../support/site.ts";

const missing = await whyNoAgentBrowser();
if (missing !== undefined) console.log(`skipped: agents' browsers, since ${missing}`);

const AGENTS = {
  defaults: { model: "anthropic/claude-sonnet-4-6" },
  list: [{ id: "coder", tools: { allow: ["read", "group:browser"] } }],
};

/** Time limits for starting a browser on a busy machine, in milliseconds. */
const WAIT_MS = 150_000;
const TEST = { timeout: 400_000 };

async function waitUntil(check: () => boolean, what: string): Promise<void> {
  await expect.poll(check, { timeout: WAIT_MS, message: what }).toBe(true);
}

/** The shop of the test. `/buy` is what its button requests. */
function openShop() {
  return serve((request, response) => {
    response.setHeader("content-type", "text/html");
    if (request.url === "/bill") {
      response.setHeader("content-disposition", 'attachment; filename="bill.txt"');
      return void response.end("You owe 500 EUR.");
    }
    response.end(
      `<title>Shop</title><h1>Welcome</h1><button onclick="fetch('/buy', { method: 'POST' })">Pay 500 EUR</button><a href="/bill">Bill</a>`,
    );
  });
}

/** Returns the text of the latest tool result that a model received. */
function latestResult(body: unknown): string {
  const { messages = [] } = body as { readonly messages?: readonly { readonly content?: unknown }[] };
  return JSON.stringify(messages.at(-1)?.content ?? "");
}

const refOf = (text: string, name: string): string =>
  new RegExp(`${name}\\\\?.{0,40}?\\[ref=(\\w+)\\]`).exec(text)?.[1] ?? "e0";

/** Waits for the next approval request and decides it. Returns the request. */
async function approve(world: World, started: Started, count: number): Promise<string> {
  const requests = () => said(world).filter((text) => text.startsWith("Approval "));
  await waitUntil(() => requests().length > count, "an approval is requested");
  const request = requests()[count] ?? "";
  const [, id = ""] = /Approval (\w{8}):/.exec(request) ?? [];
  await started.post(textMessage(`/approve ${id} allow`, from(ZHANG)));
  return request;
}

describe.skipIf(missing !== undefined)("a browser", () => {
  it(
    "opens, shows and operates a page for an agent, and clicks and saves a download only after approval",
    TEST,
    async () => {
      await using shop = await openShop();
      const world = await openWorld();
      const address = shop.url.replace("127.0.0.1", "shop.test");
      world.configure(
        exampleConfig({ access: OWNED, tools: { browser: { enabled: true } }, agents: AGENTS }),
      );
      const seen: string[] = [];
      const turns: readonly ((result: string) => ScriptedTurn)[] = [
        () => ({ toolCalls: [{ name: "browser_navigate", input: { url: `${address}/` } }] }),
        () => ({ toolCalls: [{ name: "browser_screenshot", input: {} }] }),
        () => ({
          toolCalls: [{ name: "browser_click", input: { ref: refOf(seen[1] ?? "", "Pay 500 EUR") } }],
        }),
        () => ({ toolCalls: [{ name: "browser_navigate", input: { url: `${address}/bill` } }] }),
        () => ({
          toolCalls: [{ name: "browser_save_download", input: { name: "bill.txt", file_path: "bill.txt" } }],
        }),
        () => ({ text: "Done." }),
      ];
      world.script((body, index) => {
        seen[index] = latestResult(body);
        return turns[index]?.(seen[index]) ?? { text: "Too many turns." };
      });
      const started = await world.start({
        browserEgress: { allow: [new URL(address).host], resolve: resolveTestNames },
      });
      expect(started.problems).toEqual([]);
      const before = new Set(listDescendants(process.pid));
      await started.post(textMessage(`Pay at ${address}/ please`, from(ZHANG)));
      const click = await approve(world, started, 0);
      expect(click).toContain(`click\nelement: button "Pay 500 EUR"\npage: ${address}/`);
      expect(shop.requests.map(({ url }) => url)).not.toContain("/buy");
      const save = await approve(world, started, 1);
      expect(save).toContain('save the download "bill.txt" (16 bytes) as "bill.txt"');
      expect(existsSync(join(world.home.workspace("coder"), "bill.txt"))).toBe(false);
      await started.settled();

      expect(seen[1]).toContain("Welcome");
      expect(seen[2]).toMatch(/"type":"image".*"media_type":"image\/png"/);
      expect(shop.requests.map(({ method, url }) => `${method} ${url}`)).toContain("POST /buy");
      expect(seen[4]).toContain("Downloads: 1");
      expect(readFileSync(join(world.home.workspace("coder"), "bill.txt"), "utf8")).toBe("You owe 500 EUR.");
      expect(said(world).at(-1)).toContain("Done.");
      const added = listDescendants(process.pid).filter((pid) => !before.has(pid));
      expect(added.length).toBeGreaterThan(3);
      await started.stop();
      await waitUntil(() => !added.some(isRunning), "the browser has ended");
    },
  );

  it(
    "leaves no process behind if the gateway is killed, and starts again with the same profile",
    TEST,
    async () => {
      await using shop = await openShop();
      const dir = mkdtempSync(join(SCRATCH, "browser-"));
      onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
      const address = `${shop.url.replace("127.0.0.1", "shop.test")}/`;
      const script = fileURLToPath(new URL("../support/browser-child.ts", import.meta.url));
      const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", script, dir, address], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      let output = "";
      child.stdout.on("data", (chunk) => {
        output += chunk;
      });
      await waitUntil(() => output.includes("\n"), "the page is open");
      expect(output.trim()).toBe("ready");
      const started = listDescendants(child.pid ?? 0);
      expect(started.length).toBeGreaterThan(3);
      child.kill("SIGKILL");
      await waitUntil(() => !started.some(isRunning), "its processes have ended");

      const browsers = createBrowsers({
        dir,
        settings: () => ({ maxBrowsers: 1 }),
        findPrograms: () => findPrograms(dir),
        version: "1.0.0",
        logger: { debug: () => {}, warn: () => {} },
        now: Date.now,
        egress: { allow: [new URL(address).host], resolve: resolveTestNames },
        idleMs: 300,
        holdMs: 0,
      });
      onTestFinished(() => browsers.close());
      const context = { signal: AbortSignal.timeout(WAIT_MS), resultChars: 10_000 };
      const open = (agent: string, sessionKey: string) =>
        browsers.forAgent(agent)?.call("browser_navigate", { url: address }, sessionKey, context);
      expect((await open("coder", "one"))?.isError).not.toBe(true);
      const own = () => listDescendants(process.pid).filter((pid) => isRunning(pid));
      const running = own();
      expect(running.length).toBeGreaterThan(3);
      await waitUntil(
        () => !running.some((pid) => isRunning(pid) && own().includes(pid)),
        "it ends when idle",
      );
      await browsers.close();
      await expect(open("coder", "one")).rejects.toThrow("The gateway is stopping.");
    },
  );
});

it.each([
  ["darwin", {}, "needs Linux"],
  ["linux", { package: "nowhere" }, "nowhere does not contain @playwright/mcp"],
  ["linux", { executable: "/nonexistent/chromium" }, "there is no program /nonexistent/chromium"],
] as const)("tells what is missing on %s with %j", (platform, browser, message) => {
  const config = { tools: { browser } } as unknown as Parameters<typeof findBrowserPrograms>[0];
  const host = {
    home: { dir: "/nonexistent" },
    packages: { missing: () => [], urlOf: import.meta.resolve, load: never },
  };
  const found = findBrowserPrograms(config, host, platform);
  expect("key" in found ? `${found.message} ${found.remedy}` : found).toContain(message);
});

const never = () => Promise.reject(new Error("not needed"));

it("refuses a browser in a folder with other files of the user", () => {
  const dir = mkdtempSync(join(SCRATCH, "browser-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "chrome"), "");
  mkdirSync(join(dir, "home"));
  const found = findBrowserPrograms(
    { tools: { browser: { executable: join(dir, "chrome") } } } as unknown as Parameters<
      typeof findBrowserPrograms
    >[0],
    {
      home: { dir: join(dir, "home") },
      packages: { missing: () => [], urlOf: import.meta.resolve, load: never },
    },
    "linux",
  );
  expect(found).toMatchObject({ key: "executable", remedy: "Move the browser into a folder of its own." });
});

it("reports agents with browser tools while the browser is not enabled, and what is missing if it is", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ agents: AGENTS }));
  const off = await world.start();
  expect(off.problems.join("\n")).toContain("coder may use the browser, but it is not enabled");
  await off.stop();
  world.configure(
    exampleConfig({ agents: AGENTS, tools: { browser: { enabled: true, package: "./missing" } } }),
  );
  const on = await world.start();
  expect(on.problems.join("\n")).toMatch(/tools\.browser\.package.*does not contain @playwright\/mcp/s);
  expect(on.problems.join("\n")).toContain("npm install --prefix");
});

it("reads only regular files of the browser's downloads, up to the limit", async () => {
  const dir = mkdtempSync(join(SCRATCH, "downloads-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const { symlinkSync, truncateSync } = await import("node:fs");
  const { execFileSync } = await import("node:child_process");
  writeFileSync(join(dir, "bill.pdf"), "%PDF");
  writeFileSync(join(dir, "page-2026-11-29T23-32-00-980Z.png"), "");
  symlinkSync("/etc/passwd", join(dir, "link"));
  execFileSync("mkfifo", [join(dir, "pipe")]);
  writeFileSync(join(dir, "huge"), "");
  truncateSync(join(dir, "huge"), 60_000_000);
  expect((await listDownloads(dir)).map(({ name }) => name)).toEqual(["bill.pdf", "huge"]);
  expect(Buffer.from(await readDownload(dir, "bill.pdf")).toString()).toBe("%PDF");
  for (const name of ["link", "pipe", "../downloads", "huge", "missing"])
    await expect(readDownload(dir, name)).rejects.toThrow();
});
