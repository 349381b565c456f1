import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Status } from "@signalbox/protocol";
import { openStore } from "@signalbox/store";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { stringify } from "yaml";
import type { GatewayBodies } from "../../../src/store.ts";
import { startGateway } from "../crash/child.ts";
import type { Random } from "../crash/random.ts";

/** A platform that can be made to send nonsense, with accounts for the gateway. */
export interface MalformedPlatform {
  readonly channel: string;
  /** Absent: it is a surface of the gateway's own. */
  readonly accounts?: Readonly<Record<string, unknown>>;
  /** The one person who is let in. */
  readonly owner: string;
  nonsense(random: Random, number: number): Sent;
  /** A message of the owner. */
  sound(): Sent;
  /** What the bot said. */
  sent(): readonly string[];
  stop(): Promise<void>;
}

/** What a platform sends: a request, or something over a connection that stands. */
export type Sent = Posted | Pushed;

export interface Pushed {
  readonly body: string;
  /** Resolves with what would be the status of an answer. @param url where the gateway listens */
  deliver(url: string): Promise<number>;
}

/** A request to the gateway. */
export interface Posted {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface MalformedOptions {
  readonly platform: () => Promise<MalformedPlatform>;
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

export const TOKEN = "token-of-the-owner-0123456789-abcdefghijklm";
const WORKERS = 32;
/** Time limit for an answer and for a state, in milliseconds. No gateway takes this long, even on a busy machine. */
export const MAX_WAIT_MS = 120_000;

/**
 * Sends generated nonsense as a platform would to a built gateway that lets nobody in but its owner: every answer is
 * one in the 400s or an event that a rule ignores, and afterwards the owner is answered by the same process.
 */
export async function runMalformed(options: MalformedOptions): Promise<MalformedReport> {
  const { random, events } = options;
  const home = mkdtempSync(join(tmpdir(), "signalbox-malformed-"));
  const anthropic = await startAnthropic({ check: false, script: () => ({ text: "still here" }) });
  const platform = await options.platform();
  const { channel, accounts, owner } = platform;
  writeFileSync(
    join(home, "signalbox.yaml"),
    stringify({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "silent" },
      models: {
        providers: { anthropic: { api: "anthropic-messages", apiKey: "key", baseUrl: anthropic.url } },
      },
      agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: [] } }] },
      channels: accounts === undefined ? {} : { [channel]: { accounts } },
      access: { dm: "off", groups: { mode: "off" }, owners: [`${channel}:${owner}`] },
    }),
  );
  const gateway = startGateway(home, {});
  const violations: string[] = [];
  const statuses: Record<string, number> = {};
  try {
    const url = await gateway.listening;
    // It takes requests before its accounts have connected.
    await until(() => isConnected(url));
    const agent = new Agent({ keepAlive: true, maxSockets: WORKERS });
    const resident = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1e3;
    const before = resident();
    const started = performance.now();
    let sent = 0;
    const worker = async (): Promise<void> => {
      while (sent < events && !gateway.ended()) {
        const number = ++sent;
        const one = platform.nonsense(random, number);
        const status = await send(agent, url, one).catch((error: unknown) => String(error));
        statuses[status] = (statuses[status] ?? 0) + 1;
        const isTaken = status === 200 || status === 204;
        const fine = isTaken || (typeof status === "number" && status >= 400 && status < 500);
        if (!fine)
          violations.push(`event ${number} was answered ${status}: ${String(one.body).slice(0, 500)}`);
        if (number % 10_000 === 0) options.progress?.(number);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
    const seconds = (performance.now() - started) / 1000;
    if (gateway.ended()) violations.push(`the gateway ended: ${gateway.said()}`);
    const after = resident();
    await send(agent, url, platform.sound());
    await until(() => platform.sent().length > 0 || gateway.ended());
    if (!platform.sent().some((text) => text.includes("still here")))
      violations.push("the owner was not answered afterwards");
    agent.destroy();
    gateway.signal("SIGTERM");
    const { code } = await gateway.exited;
    if (code !== 0) violations.push(`the gateway ended with ${code}`);
    const answers = platform.sent().length;
    if (answers > 1) violations.push(`${answers - 1} strangers were answered`);
    if (anthropic.requests.length > 1) violations.push("the model was asked for strangers");
    const ignored = await checkInbox(home, owner, violations);
    return { violations, events, statuses, ignored, seconds, resident: [before, after] };
  } finally {
    gateway.signal("SIGKILL");
    await gateway.exited;
    await Promise.all([anthropic.stop(), platform.stop()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Whatever was kept has its end: ignored, but for the one message of the owner. */
async function checkInbox(home: string, owner: string, violations: string[]): Promise<number> {
  const store = await openStore<GatewayBodies>({ path: join(home, "signalbox.db") });
  try {
    const rows = await store.inbox.list({ limit: 10_000_000 });
    for (const { id, state, senderId } of rows)
      if (state !== "ignored" && senderId !== owner) violations.push(`${id} of ${senderId} is ${state}`);
    return rows.filter(({ state }) => state === "ignored").length;
  } finally {
    await store.close();
  }
}

function send(agent: Agent, url: string, sent: Sent): Promise<number> {
  return "deliver" in sent ? sent.deliver(url) : post(agent, url, sent);
}

function post(agent: Agent, url: string, { method, path, headers, body }: Posted): Promise<number> {
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
    sending.setTimeout(MAX_WAIT_MS, () => sending.destroy(new Error(`no answer in ${MAX_WAIT_MS} ms`)));
    sending.once("error", reject);
    sending.end(length === 0 ? undefined : body);
  });
}

async function isConnected(url: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const status = await fetch(`${url}/api/status`, { headers }).catch(() => undefined);
  if (status === undefined) return false;
  const { channels } = Status.parse(await status.json());
  return channels.every(({ state }) => state === "ready");
}

async function until(check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (!(await check()) && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
}
