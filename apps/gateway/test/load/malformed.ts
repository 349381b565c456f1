import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import {
  fileMessage,
  groupMention,
  imageMessage,
  postMessage,
  push,
  recalled,
  replyMessage,
  startFeishu,
  textMessage,
} from "@signalbox/testkit/feishu";
import { stringify } from "yaml";
import type { GatewayBodies } from "../../src/store.ts";
import { startGateway } from "../crash/child.ts";
import type { Random } from "../crash/random.ts";

export interface MalformedOptions {
  readonly random: Random;
  readonly events: number;
  readonly progress?: (sent: number) => void;
}

export interface MalformedReport {
  readonly violations: readonly string[];
  readonly events: number;
  /** How often each status was the answer. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Events that were sound enough to be kept; each of them is ignored by a rule. */
  readonly ignored: number;
  readonly seconds: number;
  /** Megabytes, before and after. */
  readonly resident: readonly [number, number];
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const TOKEN = "token-of-the-owner-0123456789";
const APP = { appId: "cli_malformed", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";
const ENCRYPT = "encryption-of-the-app";
const OWNER = "ou_owner_of_the_gateway";
const WORKERS = 32;
const PLAIN = "/channels/feishu/plain/events";
const SEALED = "/channels/feishu/sealed/events";

/**
 * Posts generated nonsense to the Feishu webhooks of a built gateway that lets nobody in but its owner: every answer is
 * one in the 400s or an event that a rule ignores, and afterwards the owner is answered by the same process.
 */
export async function runMalformed(options: MalformedOptions): Promise<MalformedReport> {
  const { random, events } = options;
  const home = mkdtempSync(join(tmpdir(), "signalbox-malformed-"));
  const anthropic = await startAnthropic({ check: false, script: () => ({ text: "still here" }) });
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION, encryptKey: ENCRYPT });
  const account = { ...APP, verificationToken: VERIFICATION, baseUrl: feishu.url };
  writeFileSync(
    join(home, "signalbox.yaml"),
    stringify({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "silent" },
      models: {
        providers: { anthropic: { api: "anthropic-messages", apiKey: "key", baseUrl: anthropic.url } },
      },
      agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: [] } }] },
      channels: { feishu: { accounts: { plain: account, sealed: { ...account, encryptKey: ENCRYPT } } } },
      access: { dm: "off", groups: { mode: "off" }, owners: [`feishu:${OWNER}`] },
    }),
  );
  const gateway = startGateway(home, {});
  const violations: string[] = [];
  const statuses: Record<string, number> = {};
  try {
    const url = await gateway.listening;
    const agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
    const resident = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1e3;
    const before = resident();
    const started = performance.now();
    let sent = 0;
    const worker = async (): Promise<void> => {
      while (sent < events && !gateway.ended()) {
        const number = ++sent;
        const one = nonsense(random, number, feishu.bot);
        const status = await post(agent, url, one).catch((error: unknown) => String(error));
        statuses[status] = (statuses[status] ?? 0) + 1;
        const fine = status === 200 || (typeof status === "number" && status >= 400 && status < 500);
        if (!fine)
          violations.push(`event ${number} was answered ${status}: ${String(one.body).slice(0, 500)}`);
        if (number % 10_000 === 0) options.progress?.(number);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    const seconds = (performance.now() - started) / 1000;
    if (gateway.ended()) violations.push(`the gateway ended: ${gateway.said()}`);
    const after = resident();
    const sound = textMessage("are you there?", {
      senderId: OWNER,
      messageId: "om_sound",
      chatId: "oc_owner",
    });
    await post(agent, url, { ...push(sound, { token: VERIFICATION }), path: PLAIN });
    await until(() => feishu.sent.length > 0 || gateway.ended());
    if (!feishu.sent.some(({ content }) => content.includes("still here")))
      violations.push("the owner was not answered afterwards");
    agent.destroy();
    gateway.signal("SIGTERM");
    const { code } = await gateway.exited;
    if (code !== 0) violations.push(`the gateway ended with ${code}`);
    if (feishu.sent.length > 1) violations.push(`${feishu.sent.length - 1} strangers were answered`);
    if (anthropic.requests.length > 1) violations.push("the model was asked for strangers");
    const ignored = await checkInbox(home, violations);
    return { violations, events, statuses, ignored, seconds, resident: [before, after] };
  } finally {
    gateway.signal("SIGKILL");
    await gateway.exited;
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Whatever was kept has its end: ignored, but for the one message of the owner. */
async function checkInbox(home: string, violations: string[]): Promise<number> {
  const store = await openStore<GatewayBodies>({ path: join(home, "signalbox.db") });
  try {
    const rows = await store.inbox.list({ limit: 10_000_000 });
    for (const { id, state, senderId } of rows)
      if (state !== "ignored" && senderId !== OWNER) violations.push(`${id} of ${senderId} is ${state}`);
    return rows.filter(({ state }) => state === "ignored").length;
  } finally {
    await store.close();
  }
}

/** Something no platform sends: a damaged event, well sealed or not, or no event at all. */
function nonsense(random: Random, number: number, bot: { openId: string; name: string }): Sent {
  const kind = random.next();
  if (kind < 0.1)
    return {
      method: "POST",
      path: random.pick([PLAIN, SEALED]),
      headers: anyHeaders(random),
      body: bytes(random),
    };
  const event = damaged(random, soundEvent(random, number, bot));
  if (kind < 0.45) return { ...push(event, { token: VERIFICATION }), path: PLAIN };
  const sealed = push(event, { token: VERIFICATION, encryptKey: ENCRYPT });
  if (kind < 0.8) return { ...sealed, path: SEALED };
  // Sound in itself, but not as it was signed, sent or addressed.
  const { headers } = sealed;
  const cut = sealed.body.slice(0, random.int(0, sealed.body.length));
  const body = random.pick([sealed.body, cut, `${sealed.body}}`, JSON.stringify(event)]);
  return {
    method: random.pick(["POST", "POST", "POST", "GET", "PUT", "DELETE"]),
    path: random.pick([
      SEALED,
      PLAIN,
      `${SEALED}/x`,
      "/channels/feishu/nobody/events",
      "/channels/feishu/plain/",
    ]),
    headers: random.chance(0.5) ? headers : anyHeaders(random),
    body,
  };
}

function soundEvent(random: Random, number: number, bot: { openId: string; name: string }): unknown {
  const ids = { eventId: `ev_${number}`, messageId: `om_${number}`, senderId: `ou_${random.int(0, 50)}` };
  switch (random.int(0, 6)) {
    case 0:
      return postMessage(
        [
          [
            { tag: "text", text: "a" },
            { tag: "at", user_id: "ou_1" },
          ],
          [{ tag: "img", image_key: "i" }],
        ],
        ids,
      );
    case 1:
      return imageMessage("img_1", ids);
    case 2:
      return fileMessage("file_1", "notes.txt", ids);
    case 3:
      return groupMention("hello", bot, ids);
    case 4:
      return replyMessage("om_parent", "hello", ids);
    case 5:
      return recalled(`om_${random.int(0, number)}`);
    default:
      return textMessage("hello", ids);
  }
}

/** Replaces, removes, adds or cuts at one to four places. */
function damaged(random: Random, event: unknown): unknown {
  const copy: unknown = structuredClone(event);
  for (let times = random.int(1, 4); times > 0; times--) {
    const found = places(copy);
    const place = found[random.int(0, Math.max(0, found.length - 1))];
    if (place === undefined) continue;
    const { parent, key } = place;
    const old = parent[key];
    const how = random.int(0, 3);
    if (how === 0) delete parent[key];
    else if (how === 1) parent[random.pick(NAMES)] = strange(random, 2);
    else if (how === 2 && typeof old === "string") parent[key] = old.slice(0, random.int(0, old.length));
    else parent[key] = strange(random, 3);
  }
  return copy;
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function places(value: unknown, found: Place[] = []): Place[] {
  if (typeof value !== "object" || value === null) return found;
  const parent: Record<string, unknown> = Object.assign(value);
  for (const key of Object.keys(parent)) {
    found.push({ parent, key });
    places(parent[key], found);
  }
  return found;
}

const NAMES = [
  ...(["event", "header", "message", "sender", "content", "token", "encrypt", "schema", "type"] as const),
  ...(["challenge", "mentions", "message_type", "chat_type", "sender_id", "event_type", "event_id"] as const),
  ...(["create_time", "uuid", "id", "key", "__proto__", "constructor", "toString", ""] as const),
] as const;

const TEXTS = [
  ...(["", "x", "@_user_1", "\ud83d", "\u0000", "{}", "null", '{"text":1}', '{"text":"@_user_1"}'] as const),
  ...([
    '{"content":[[{"tag":"at"}]]}',
    "1767225599123",
    "-1",
    "NaN",
    "../../etc/passwd",
    "p2p",
    "group",
  ] as const),
  ...([
    "im.message.receive_v1",
    "im.message.recalled_v1",
    "card.action.trigger",
    "url_verification",
  ] as const),
] as const;

function strange(random: Random, depth: number): unknown {
  switch (random.int(0, depth > 0 ? 8 : 5)) {
    case 0:
      return random.pick(TEXTS);
    case 1:
      return random.pick([0, -1, 1e308, 0.1, 2 ** 53, -0]);
    case 2:
      return random.pick([null, true, false]);
    case 3:
      return random.pick(["[", '"', "a", "\u{1f600}"]).repeat(random.int(1, 2_000));
    case 4:
      return [];
    case 5:
      return {};
    case 6:
      return Array.from({ length: random.int(1, 4) }, () => strange(random, depth - 1));
    case 7:
      return nested(random.int(10, 500));
    default:
      return Object.fromEntries([[random.pick(NAMES), strange(random, depth - 1)]]);
  }
}

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function bytes(random: Random): Buffer {
  const made = Buffer.alloc(random.int(0, 400));
  for (let at = 0; at < made.length; at++) made[at] = random.int(0, 255);
  return random.chance(0.5)
    ? made
    : Buffer.concat([Buffer.from(random.pick(['{"encrypt":"', "{", "[["])), made]);
}

function anyHeaders(random: Random): Record<string, string> {
  const types = [
    "application/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "x",
  ] as const;
  return {
    "content-type": random.pick(types),
    ...(random.chance(0.3) ? { "content-encoding": random.pick(["gzip", "br", "none"]) } : {}),
    ...(random.chance(0.5) ? { "x-lark-signature": random.pick(["0".repeat(64), "", "x"]) } : {}),
    ...(random.chance(0.5) ? { "x-lark-request-timestamp": random.pick(["0", "-1", "1e99", "now"]) } : {}),
    ...(random.chance(0.5) ? { "x-lark-request-nonce": "n" } : {}),
  };
}

function post(agent: Agent, url: string, { method, path, headers, body }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = method === "GET" ? 0 : Buffer.byteLength(body);
    const sending = request(
      `${url}${path}`,
      { method, agent, headers: { ...headers, "content-length": length } },
      (response) => {
        response.resume();
        response.once("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sending.setTimeout(30_000, () => sending.destroy(new Error("no answer in 30 s")));
    sending.once("error", reject);
    sending.end(length === 0 ? undefined : body);
  });
}

async function until(check: () => boolean): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!check() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
}
