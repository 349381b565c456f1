import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedConfig, loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished } from "vitest";
import { createSetup, type Setup } from "../../src/configure/create-setup.ts";
import { type Applied, createLiveConfig } from "../../src/configure/live-config.ts";
import { changedSections, nextSetup } from "../../src/configure/next-setup.ts";
import { Reloading } from "../../src/configure/reload.ts";
import { PACKAGES } from "./packages.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function start(text: string) {
  const dir = mkdtempSync(join(tmpdir(), "setup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const load = (content: string): LoadedConfig =>
    loadConfig({ file: "signalbox.yaml", text: content, env: { OPENAI_API_KEY: "key" } });
  const resolve = (loaded: LoadedConfig): Promise<Setup> =>
    createSetup({
      home,
      loaded,
      env: { OPENAI_API_KEY: "key" },
      vault: createVault(),
      packages: PACKAGES,
      channels: [],
      ownChannels: [],
      tools: [],
      skillsDir: join(dir, "bundled"),
      logger: () => SILENT,
    });
  const loaded = load(text);
  const first: Applied = { loaded, resolved: await resolve(loaded) };
  const after = (before: Applied, content: string) => nextSetup(before, load(content), resolve);
  return { first, after, load, resolve, next: (content: string) => after(first, content) };
}

const CODER = "agents: { list: [ { id: coder, model: openai/gpt-5.2 } ] }";

it("applies what is right, and keeps a section as it was in which something is newly wrong", async () => {
  const { first, next } = await start(CODER);
  expect(first.resolved.problems).toEqual([]);
  const both = await next(`${CODER}\nsession: { queue: { mode: collect } }`);
  expect([both.kept, both.problems]).toEqual([[], []]);
  expect(changedSections(first.loaded.config, both.next.loaded.config)).toEqual(["session"]);

  const broken = await next(
    "agents: { list: [ { id: coder, workspaceDir: /nowhere/at/all } ] }\nreplies: { typing: false }",
  );
  expect(broken.problems).toMatchObject([{ message: expect.stringContaining("/nowhere/at/all") }]);
  expect(broken.kept).toEqual(["agents"]);
  expect(broken.next.resolved.agents.all).toMatchObject([{ id: "coder", model: "openai/gpt-5.2" }]);
  expect(broken.next.loaded.config.replies.typing).toBe(false);
});

it("changes what says who may do what together or not at all", async () => {
  const { first, next } = await start(`${CODER}\nlinks: { mode: "off" }`);
  const opened = "channels: { feishu: { enabled: false } }\naccess: { dm: open }\nlinks: { mode: fetch }";
  const { next: applied, faulty, kept } = await next(`agents: { list: [ { id: 7 } ] }\n${opened}`);
  expect([faulty, kept]).toEqual([["agents"], ["agents", "channels", "access"]]);
  const { access, channels, links } = applied.loaded.config;
  expect([access, channels]).toEqual([first.loaded.config.access, first.loaded.config.channels]);
  expect(links.mode).toBe("fetch");
});

it("keeps a mistake out for as long as it is there", async () => {
  const { first, after } = await start(CODER);
  const wrong = "agents: { list: [ { id: coder, model: openai/gpt-5.2, tools: { deny: 7 } } ] }";
  const once = await after(first, wrong);
  const again = await after(once.next, `${wrong}\naccess: { dm: open }`);
  expect(again.kept).toEqual(["agents", "access"]);
  expect(again.next.loaded.config.access).toEqual(first.loaded.config.access);
  expect(again.next.resolved.agents.all).toMatchObject([{ id: "coder", model: "openai/gpt-5.2" }]);
});

it("returns the configuration in effect, and computes derived values again after a change", async () => {
  const { first, next } = await start(CODER);
  const live = createLiveConfig(first);
  const names = live.derived(({ agents }) => agents.all.map(({ id }) => id));
  const before = names();
  expect(before).toEqual(["coder"]);
  expect(names()).toBe(before);
  live.apply((await next("agents: { list: [ { id: writer } ] }")).next);
  const { agents } = live.current();
  expect([agents.all.map(({ id }) => id), names()]).toEqual([["writer"], ["writer"]]);
});

it("reports a configuration as in effect even if the disk is too full to record it", async () => {
  const { first, load, resolve } = await start(CODER);
  const errors: string[] = [];
  const live = createLiveConfig(first);
  const reloading = new Reloading(first, {
    live,
    resolve,
    prepare: async () => {},
    tell: async () => ["telegram/main"],
    record: () => Promise.reject(new Error("the disk is full")),
    vault: createVault(),
    logger: { info() {}, warn() {}, error: (_, message) => void errors.push(message) },
  });
  const reloaded = await reloading.reload(() => load(`${CODER}\naccess: { dm: open }`));
  expect(reloaded).toEqual({ applied: ["access"], forStart: [], kept: [], accounts: ["telegram/main"] });
  expect(live.current().settings.access.dm).toBe("open");
  expect(reloading.state.kept).toEqual([]);
  expect(errors).toEqual(["the new configuration is in effect, but could not be recorded"]);
});
