import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LoadedConfig, loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { expect, it, onTestFinished } from "vitest";
import { createSetup, type Setup } from "../../src/configure/create-setup.ts";
import { type Applied, createLiveSetup } from "../../src/configure/live-setup.ts";
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

it("shows whoever has a view of it what applies now, and makes anew what was made of it", async () => {
  const { first, next } = await start(CODER);
  const live = createLiveSetup(first);
  const { agents } = live.resolved;
  const names = live.derived(({ resolved }) => ({ all: resolved.agents.all.map(({ id }) => id) }));
  live.apply((await next("agents: { list: [ { id: writer } ] }")).next);
  expect([agents.all.map(({ id }) => id), names.all, agents.get("coder")]).toEqual([
    ["writer"],
    ["writer"],
    undefined,
  ]);
});

it("says that a configuration applies, also where the disk is too full to put that on record", async () => {
  const { first, load, resolve } = await start(CODER);
  const errors: string[] = [];
  const live = createLiveSetup(first);
  const reloading = new Reloading(first, {
    configuration: live,
    resolve,
    prepare: async () => {},
    tell: async () => ["telegram/main"],
    record: () => Promise.reject(new Error("the disk is full")),
    vault: createVault(),
    logger: { info() {}, warn() {}, error: (_, message) => void errors.push(message) },
  });
  const reloaded = await reloading.reload(() => load(`${CODER}\naccess: { dm: open }`));
  expect(reloaded).toEqual({ applied: ["access"], forStart: [], kept: [], accounts: ["telegram/main"] });
  expect(live.config().access.dm).toBe("open");
  expect(reloading.state.kept).toEqual([]);
  expect(errors).toEqual(["the configuration applies, but could not be put on record"]);
});
