import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { formatProblem } from "@signalbox/config";
import { createRouter, type RouteExplanation, type Router } from "@signalbox/routing";
import type { OutboxRow } from "@signalbox/store";
import { openStore } from "@signalbox/store";
import { type AnthropicStandIn, startAnthropic } from "@signalbox/testkit/anthropic";
import { type FeishuStandIn, groupMention, startFeishu, textMessage } from "@signalbox/testkit/feishu";
import { stringify } from "yaml";
import { ASSETS } from "../assets.ts";
import { EXIT, GatewayError } from "../errors.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { type Home, locateHome, prepareHome } from "../home.ts";
import { createLogger, createRedactor } from "../log.ts";
import { routeInput, routingConfig } from "../path/2-admit/route.ts";
import { planGateway } from "../plan.ts";
import { readConfig } from "../settings.ts";
import type { GatewayBodies } from "../store.ts";
import { readTrace } from "../trace/tracer.ts";
import type { PlatformEvent, Scenario } from "./scenario.ts";

/** Everything that happened while a scenario ran, layer by layer. */
export interface Performance {
  readonly name: string;
  readonly problems: readonly string[];
  readonly events: readonly { readonly sent: unknown; readonly status: number }[];
  readonly messages: readonly PerformedMessage[];
  readonly requests: readonly { readonly body: unknown; readonly text: string; readonly status: number }[];
  readonly turns: readonly unknown[];
  readonly tools: readonly PerformedTool[];
  readonly outbox: readonly Pick<
    OutboxRow,
    "id" | "key" | "state" | "channel" | "address" | "payload" | "receipts"
  >[];
  readonly sent: readonly {
    readonly channel: string;
    readonly method: string;
    readonly path: string;
    readonly body: string;
  }[];
  /** Contents of the files the scenario asks about. */
  readonly files: Readonly<Record<string, string | undefined>>;
}

export interface PerformedMessage {
  readonly id: string;
  readonly state: string;
  readonly rule?: string;
  readonly inbound: unknown;
  readonly agent?: string;
  readonly sessionKey?: string;
  /** Why it was routed there. */
  readonly route: RouteExplanation;
  readonly trace: readonly { readonly stage: string; readonly summary: string; readonly data?: unknown }[];
}

export interface PerformedTool {
  readonly name: string;
  readonly args: unknown;
  readonly isError: boolean;
  readonly text: string;
  readonly details?: unknown;
}

const KEY = "standin-anthropic-key";
const APP = {
  appId: "cli_standin",
  appSecret: "standin-app-secret",
  token: "standin-verification",
  encryptKey: "standin-encrypt-key",
};
const SETTLE_MS = 20_000;

/** Runs a scenario in a home of its own, against stand-ins in this process. */
export async function perform(scenario: Scenario): Promise<Performance> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-replay-"));
  const anthropic = await startAnthropic({ script: scenario.model, apiKeys: [KEY] });
  const feishu = await startFeishu({
    appId: APP.appId,
    appSecret: APP.appSecret,
    verificationToken: APP.token,
    users: Object.fromEntries(
      Object.entries(scenario.people["feishu"] ?? {}).map(([id, name]) => [id, { name }]),
    ),
  });
  try {
    return await performIn(dir, scenario, anthropic, feishu);
  } finally {
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function performIn(
  dir: string,
  scenario: Scenario,
  anthropic: AnthropicStandIn,
  feishu: FeishuStandIn,
): Promise<Performance> {
  const env = {
    HOME: dir,
    PATH: process.env["PATH"],
    ANTHROPIC_KEY: KEY,
    ANTHROPIC_URL: anthropic.url,
    FEISHU_URL: feishu.url,
    FEISHU_APP_ID: APP.appId,
    FEISHU_APP_SECRET: APP.appSecret,
    FEISHU_TOKEN: APP.token,
    FEISHU_ENCRYPT_KEY: APP.encryptKey,
  };
  const home = locateHome(join(dir, "home"), env);
  prepareHome(home);
  writeFileSync(home.configFile, stringify({ ...scenario.config, gateway: { port: 0, logLevel: "silent" } }));
  for (const [agent, files] of Object.entries(scenario.workspace)) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(home.workspace(agent), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  const loaded = readConfig(home, env);
  const logger = createLogger("silent", createRedactor(loaded.secrets));
  const plan = await planGateway({ home, loaded, logger, env });
  const gateway = await startGateway(
    {
      home,
      loaded,
      logger,
      env,
      consoleDir: ASSETS.consoleDir,
      onFatal: (error) => process.stderr.write(`${error.message}\n`),
    },
    plan,
  );
  const events: { sent: unknown; status: number }[] = [];
  try {
    for (const event of scenario.events) events.push(await post(gateway, feishu, event, scenario));
    await settled(gateway);
  } finally {
    await gateway.stop();
  }
  const router = createRouter(routingConfig(loaded.config, plan.agents));
  const kept = await readStore(home, router);
  return {
    name: scenario.name,
    problems: plan.problems.map(formatProblem),
    events,
    ...kept,
    requests: anthropic.requests.map(({ body, text, status }) => ({ body, text, status })),
    turns: scenario.model,
    sent: feishu.requests
      .filter(({ method, path }) => method === "POST" && path.startsWith("/open-apis/im/v1/messages"))
      .map(({ method, path, text }) => ({
        channel: "feishu",
        method,
        path: path.split("?")[0] ?? path,
        body: text,
      })),
    files: Object.fromEntries(
      Object.keys(scenario.expect.files ?? {}).map((name) => [
        name,
        readText(join(dir, "home", "workspaces", name)),
      ]),
    ),
  };
}

async function post(
  gateway: Gateway,
  feishu: FeishuStandIn,
  event: PlatformEvent,
  scenario: Scenario,
): Promise<{ sent: unknown; status: number }> {
  const body = event.body ?? feishuEvent(event, feishu);
  const account = accountConfig(scenario, event);
  const response = await feishu.postEvent(`${gateway.url}/channels/feishu/${event.account}/events`, body, {
    token: APP.token,
    ...(account["encryptKey"] === undefined ? {} : { encryptKey: APP.encryptKey }),
  });
  await response.text();
  return { sent: body, status: response.status };
}

function feishuEvent(event: PlatformEvent, feishu: FeishuStandIn): unknown {
  const options = {
    ...(event.eventId === undefined ? {} : { eventId: event.eventId }),
    ...(event.messageId === undefined ? {} : { messageId: event.messageId }),
    ...(event.chatId === undefined ? {} : { chatId: event.chatId }),
    ...(event.sender === undefined ? {} : { senderId: event.sender }),
    ...(event.chatType === undefined ? {} : { chatType: event.chatType }),
  };
  return event.mention === true
    ? groupMention(event.text ?? "", feishu.bot, options)
    : textMessage(event.text ?? "", options);
}

function accountConfig(scenario: Scenario, event: PlatformEvent): Readonly<Record<string, unknown>> {
  const at = (value: unknown, key: string): unknown =>
    value !== null && typeof value === "object" && key in value
      ? Object.entries(value).find(([name]) => name === key)?.[1]
      : undefined;
  const account = at(at(at(at(scenario.config, "channels"), event.channel), "accounts"), event.account);
  return account !== null && typeof account === "object" ? Object.fromEntries(Object.entries(account)) : {};
}

/** Waits until every message has its end and every reply is out. */
async function settled(gateway: Gateway): Promise<void> {
  const deadline = Date.now() + SETTLE_MS;
  while (Date.now() < deadline) {
    const { inboxPending, outboxPending } = await gateway.service.status();
    if (inboxPending === 0 && outboxPending === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new GatewayError(
    EXIT.failure,
    `The scenario did not come to rest within ${SETTLE_MS / 1000} seconds.`,
  );
}

async function readStore(
  home: Home,
  router: Router,
): Promise<Pick<Performance, "messages" | "tools" | "outbox">> {
  const store = await openStore<GatewayBodies>({ path: home.databaseFile });
  try {
    const rows = (await store.inbox.list({ limit: 1_000 })).toSorted((a, b) => a.seq - b.seq);
    const messages: PerformedMessage[] = [];
    for (const row of rows) {
      const trace = await readTrace(store, row.id);
      messages.push({
        id: row.messageId ?? row.id,
        state: row.state,
        inbound: row.payload.event,
        route: router.explain(routeInput(row.payload.event)),
        ...(row.detail?.rule === undefined ? {} : { rule: row.detail.rule }),
        ...(row.route === undefined ? {} : { agent: row.route.agentId, sessionKey: row.route.sessionKey }),
        trace: trace?.entries ?? [],
      });
    }
    const tools: PerformedTool[] = [];
    for (const session of await store.sessions.list()) {
      const args = new Map<string, unknown>();
      for (const { message } of (await store.sessions.transcript(session.key)).toReversed()) {
        if (message.role === "assistant") {
          for (const block of message.content)
            if (block.type === "toolCall") args.set(block.id, block.args ?? block.argsText);
        }
        if (message.role !== "toolResult") continue;
        const text = message.content
          .flatMap((block) => (block.type === "text" ? [block.text] : [`[${block.type}]`]))
          .join("\n");
        const details = message.details === undefined ? {} : { details: message.details };
        tools.push({
          name: message.toolName,
          args: args.get(message.toolCallId),
          isError: message.isError,
          text,
          ...details,
        });
      }
    }
    const states = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;
    const outbox = (await store.outbox.list({ states, limit: 1_000 })).toReversed();
    return {
      messages,
      tools,
      outbox: outbox.map(({ id, key, state, channel, address, payload, receipts }) => ({
        id,
        key,
        state,
        channel,
        address,
        payload,
        receipts,
      })),
    };
  } finally {
    await store.close();
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
