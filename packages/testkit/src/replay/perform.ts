import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type AnthropicStandIn, startAnthropic } from "../anthropic/index.ts";
import { type FeishuStandIn, groupMention, startFeishu, textMessage } from "../feishu/index.ts";
import type { ReplayedGateway, ReplayHost } from "./host.ts";
import type { Performance, PostedEvent } from "./performance.ts";
import type { PlatformEvent, Scenario } from "./scenario.ts";

const KEY = "standin-anthropic-key";
const APP = {
  appId: "cli_standin",
  appSecret: "standin-app-secret",
  token: "standin-verification",
  encryptKey: "standin-encrypt-key",
};
const SETTLE_MS = 20_000;

/**
 * Plays a scenario on a gateway in a home of its own, against stand-ins in this process.
 * @throws Error where it has not come to rest within 20 seconds, and what the host throws
 */
export async function perform(scenario: Scenario, host: ReplayHost): Promise<Performance> {
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
    return await performIn(dir, scenario, host, { anthropic, feishu });
  } finally {
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(dir, { recursive: true, force: true });
  }
}

async function performIn(
  dir: string,
  scenario: Scenario,
  host: ReplayHost,
  { anthropic, feishu }: { readonly anthropic: AnthropicStandIn; readonly feishu: FeishuStandIn },
): Promise<Performance> {
  const home = join(dir, "home");
  for (const [agent, files] of Object.entries(scenario.workspace)) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(host.workspace(home, agent), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
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
  const gateway = await host.start({ home, config: scenario.config, env });
  const events: PostedEvent[] = [];
  try {
    for (const event of scenario.events) events.push(await post(gateway, feishu, event, scenario));
    await settled(gateway);
  } finally {
    await gateway.stop();
  }
  return {
    name: scenario.name,
    problems: gateway.problems,
    events,
    ...(await gateway.records()),
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
        readText(workspaceFile(host, home, name)),
      ]),
    ),
  };
}

/** Where a file lies that is named as `agent/path`. */
function workspaceFile(host: ReplayHost, home: string, name: string): string {
  const [agent = "", ...path] = name.split("/");
  return join(host.workspace(home, agent), ...path);
}

async function post(
  gateway: ReplayedGateway,
  feishu: FeishuStandIn,
  event: PlatformEvent,
  scenario: Scenario,
): Promise<PostedEvent> {
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
async function settled(gateway: ReplayedGateway): Promise<void> {
  const deadline = Date.now() + SETTLE_MS;
  while (Date.now() < deadline) {
    if ((await gateway.pending()) === 0) return;
    await delay(10);
  }
  throw new Error(`The scenario did not come to rest within ${SETTLE_MS / 1000} seconds.`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
