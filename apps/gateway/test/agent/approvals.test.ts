import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { MessageEvent } from "@signalbox/channel";
import { openVault, readConfig } from "@signalbox/home";
import { createSessionAccess } from "@signalbox/memory/agents";
import { createVault } from "@signalbox/redaction";
import { createLiveHub } from "@signalbox/server";
import { type InboxId, openStore, parseId, type RunId } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { createMemoryLabelStore, createUserQuestions, openFileLabels } from "@signalbox/tools";
import { expect, onTestFinished, test } from "vitest";
import { createToolbox, type ToolboxServices } from "../../src/agent/create-toolbox.ts";
import { resolveConfig } from "../../src/configure/resolve-config.ts";
import { createSurfaces } from "../../src/configure/surfaces.ts";
import { createGatewayHooks } from "../../src/hooks/registry.ts";
import type { GatewayBodies } from "../../src/store.ts";
import { fakeContext } from "../support/fake-context.ts";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";

const SESSION = "agent:coder:web:direct:c";
const SOUL = { file_path: "SOUL.md", content: "Be bold." };

function message(channel: string): MessageEvent {
  return {
    type: "message",
    eventId: "m",
    messageId: "m",
    channel,
    account: "main",
    conversation: { id: "c", kind: "direct" },
    address: "web:c",
    sender: { id: "c", isBot: false, isSelf: false },
    addressed: "dm",
    timestamp: 0,
    text: "do it",
    media: [],
    mentions: [],
  };
}

const nothing = () => Promise.reject(new Error("nothing is fetched or sent here"));

/** The tools of a run that has seen what others wrote, as a command would call them. */
async function tainted(channel: string) {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  const { home, env } = world;
  mkdirSync(home.workspace("coder"), { recursive: true });
  const loaded = readConfig(home, env);
  const logger = createLogger("silent", (text) => text);
  const { agents, skills } = await resolveConfig({
    home,
    loaded,
    logger,
    env,
    vault: openVault(loaded, env),
  });
  const store = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const asked: string[] = [];
  const live = createLiveHub((error) => {
    throw error;
  });
  live.subscribe(SESSION, (event) => {
    if (event.type === "message") asked.push(event.message.text);
  });
  const now = Date.now;
  const surfaces = createSurfaces(nothing, {
    uploads: { open: async () => undefined },
    carried: { open: async () => undefined },
  });
  const { config: settings } = loaded;
  const current = { settings, agents, skills, plugins: { tools: [] } };
  const core = fakeContext({
    options: { home, vault: createVault() },
    home,
    config: {
      current: () => current,
      derived: (read: (value: typeof current) => unknown) => () => read(current),
    },
    store,
    lease: { name: "gateway", epoch: 1 },
    web: { fetch: nothing },
    accounts: { list: () => [] },
    audit: { tool: () => {}, approval: () => {} },
    hooks: createGatewayHooks({ own: [], hooks: [], configured: () => [], redact: (text) => text, logger }),
    getCapabilities: (id: string) =>
      [surfaces.web, surfaces.api].find((hub) => hub.definition.id === id)?.definition.capabilities,
    live,
    now,
  });
  const services: ToolboxServices = Object.assign(Object.create(null), {
    labels: await openFileLabels(createMemoryLabelStore()),
    fitPicture: nothing,
    memoryAccess: createSessionAccess(() => false),
    userQuestions: createUserQuestions({ kv: store.kv, now }),
    mcp: { tools: async () => [] },
    browsers: { forAgent: () => undefined },
    delivery: { deliver: () => {}, ended: async () => {} },
    drafts: { startNewMessage: async () => {} },
    outgoing: { prepare: nothing, open: nothing },
  });
  const toolbox = createToolbox(core, services, () => {
    throw new Error("no model is called here");
  });
  const [agent] = agents.all;
  const runId = parseId<RunId>("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  const messageId = parseId<InboxId>("01ARZ3NDEKTSV4RRFFQ69G5FAW");
  if (!agent || !runId || !messageId) throw new Error("no agent or ids");
  const tools = await toolbox.forRun({
    agent,
    event: message(channel),
    role: "owner",
    speaker: `${channel}:owner`,
    sessionKey: SESSION,
    runId,
    messageId,
    getCurrentRights: async () => ({ policy: agent.tools, role: "owner" }),
    onSent: () => {},
  });
  tools.addTaint("web");
  const how = {
    callId: "call-1",
    signal: new AbortController().signal,
    asking: async <T>(ask: () => T | Promise<T>): Promise<T> => ask(),
  };
  const soul = join(home.workspace("coder"), "SOUL.md");
  const read = (path: string) => tools.call("read", { file_path: path }, { ...how, callId: "call-2" });
  return { toolbox, asked, soul, call: () => tools.call("write", SOUL, how), read };
}

test.each(["allow", "deny"] as const)("a command's call waits for its question: %s", async (answer) => {
  const { toolbox, asked, soul, call } = await tainted("web");
  const result = call();
  await eventually(async () => (await toolbox.approvals.list()).length > 0, "the question is put");
  const [open] = await toolbox.approvals.list();
  expect(open?.reason).toContain("content from web");
  expect(JSON.stringify(open?.subject)).toContain(SOUL.content);
  expect(existsSync(soul)).toBe(false);
  expect(await toolbox.approvals.resolve(open?.id ?? "", answer, "web:token")).toMatchObject({ ok: true });
  expect((await result).isError === true).toBe(answer === "deny");
  expect(existsSync(soul)).toBe(answer === "allow");
  // The page shows approval requests itself.
  expect(asked).toEqual([]);
});

test("a failed call is not mistaken for the approval request that its text mentions", async () => {
  const { toolbox, call, read } = await tainted("web");
  const result = call();
  await eventually(async () => (await toolbox.approvals.list()).length > 0, "the question is put");
  const [open] = await toolbox.approvals.list();
  const failed = await Promise.race([read(` ${open?.id};x`), delay(30_000, "waits for the answer")]);
  expect(failed).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(`${open?.id};x`) }],
  });
  await toolbox.approvals.resolve(open?.id ?? "", "deny", "web:token");
  await result;
});

test("calls that need approval are rejected at once for API clients", async () => {
  const { toolbox, asked, soul, call } = await tainted("api");
  expect(await call()).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("Nobody can approve it here.") }],
  });
  expect(await toolbox.approvals.list()).toEqual([]);
  expect(asked).toEqual([]);
  expect(existsSync(soul)).toBe(false);
});
