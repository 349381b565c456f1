import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { push, startFeishu, textMessage } from "@signalbox/testkit/feishu";
import { stringify } from "yaml";
import { startGateway } from "../crash/child.ts";
import { answeredIn, nameOf, type Tag, tagsIn, textOf } from "../crash/conversation.ts";
import type { Random } from "../crash/random.ts";

export interface FloodOptions {
  /** Says who writes when. */
  readonly random: Random;
  readonly seconds: number;
  readonly inboxLimit: number;
}

export interface FloodReport {
  readonly violations: readonly string[];
  /** Messages a second that the model lets through. */
  readonly steady: number;
  /** Messages a second that were sent. */
  readonly offered: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly answered: number;
  /** Milliseconds to the answer of an event: median, 99 of 100. */
  readonly acks: readonly [number, number];
  /** From the end of the flood to the last reply. */
  readonly drainSeconds: number;
  /** Megabytes, before and after. */
  readonly resident: readonly [number, number];
}

const MODEL_MS = 400;
const RUNS = 4;
const STEADY = (RUNS * 1000) / MODEL_MS;
const TIMES = 100;
const SESSIONS = 200;
const TICK_MS = 10;
const TOKEN = "token-of-the-flood-0123456789-abcdefghijklm";
const APP = { appId: "cli_flood", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";

/** Sends a hundred times what the model lets through to a built gateway and counts what comes of each event. */
export async function runFlood({ random, seconds, inboxLimit }: FloodOptions): Promise<FloodReport> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-flood-"));
  const anthropic = await startAnthropic({
    check: false,
    script: (body) => {
      const tag = tagsIn(JSON.stringify(body)).at(-1);
      return { text: `done ${tag ? nameOf(tag) : ""}`, delayMs: MODEL_MS };
    },
  });
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION });
  writeFileSync(
    join(home, "signalbox.yaml"),
    stringify({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "silent", inboxLimit, maxRuns: RUNS },
      models: {
        providers: {
          anthropic: { api: "anthropic-messages", apiKey: "key-of-the-flood-0123", baseUrl: anthropic.url },
        },
      },
      agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: [] } }] },
      channels: {
        feishu: { accounts: { main: { ...APP, verificationToken: VERIFICATION, baseUrl: feishu.url } } },
      },
      session: { queue: { mode: "followup", cap: 1_000_000 } },
      access: { dm: "open" },
    }),
  );
  const gateway = startGateway(home, {});
  try {
    const url = await gateway.listening;
    const resident = (): number =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, "utf8"))?.[1]) / 1e3;
    await sleep(500);
    const before = resident();
    const { acknowledged, refused, odd, acks, offered } = await pour(url, seconds, feishu.plant, random);
    const ended = performance.now();
    await drained(url, gateway.ended);
    const drainSeconds = (performance.now() - ended) / 1000;
    const after = resident();
    gateway.signal("SIGTERM");
    const { code } = await gateway.exited;
    const replies = new Map<string, number>();
    for (const { content } of feishu.sent)
      for (const name of answeredIn(content)) replies.set(name, (replies.get(name) ?? 0) + 1);
    const violations = judgeFlood({ acknowledged, refused, odd, code, replies });
    return {
      violations,
      steady: STEADY,
      offered,
      acknowledged: acknowledged.length,
      refused: refused.length,
      answered: replies.size,
      acks,
      drainSeconds,
      resident: [before, after],
    };
  } finally {
    gateway.signal("SIGKILL");
    await gateway.exited;
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface FloodEvidence {
  readonly acknowledged: readonly string[];
  readonly refused: readonly string[];
  /** Events that were answered by neither 200 nor 503, one sentence each. */
  readonly odd: readonly string[];
  /** What the gateway ended with. */
  readonly code: number | null;
  /** How often each was answered. */
  readonly replies: ReadonlyMap<string, number>;
}

/** Acknowledged is answered once, refused is not answered, and there is no third way. */
export function judgeFlood({ acknowledged, refused, odd, code, replies }: FloodEvidence): string[] {
  return [
    ...odd,
    ...(code === 0 ? [] : [`the gateway ended with ${code}`]),
    ...acknowledged
      .filter((name) => replies.get(name) !== 1)
      .map((name) => `${name} was acknowledged and answered ${replies.get(name) ?? 0} times`),
    ...refused.filter((name) => replies.has(name)).map((name) => `${name} was refused and answered`),
  ];
}

interface Poured {
  readonly acknowledged: string[];
  readonly refused: string[];
  readonly odd: string[];
  readonly acks: readonly [number, number];
  readonly offered: number;
}

type Plant = Awaited<ReturnType<typeof startFeishu>>["plant"];

/** Sends at an even rate, whatever the answers are. */
async function pour(url: string, seconds: number, plant: Plant, random: Random): Promise<Poured> {
  const said = new Map<number, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: 128 });
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const odd: string[] = [];
  const times: number[] = [];
  const underWay: Promise<void>[] = [];
  const started = performance.now();
  let count = 0;
  for (; performance.now() - started < seconds * 1000; await sleep(TICK_MS)) {
    const due = ((performance.now() - started) / 1000) * STEADY * TIMES;
    for (; count < due; count++) {
      const session = random.int(0, SESSIONS - 1);
      const number = (said.get(session) ?? 0) + 1;
      said.set(session, number);
      const tag: Tag = { session, number, kind: "plain" };
      underWay.push(
        post(agent, url, tag, plant).then(
          ({ status, ms }) => {
            times.push(ms);
            if (status === 200) acknowledged.push(nameOf(tag));
            else if (status === 503) refused.push(nameOf(tag));
            else odd.push(`${nameOf(tag)} was answered ${status}`);
          },
          (error: unknown) => void odd.push(`${nameOf(tag)}: ${String(error)}`),
        ),
      );
    }
  }
  await Promise.all(underWay);
  const lasted = (performance.now() - started) / 1000;
  agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { acknowledged, refused, odd, acks: [at(0.5), at(0.99)], offered: count / lasted };
}

function post(agent: Agent, url: string, tag: Tag, plant: Plant): Promise<{ status: number; ms: number }> {
  const name = nameOf(tag);
  const message = {
    messageId: `om_${name}`,
    chatId: `oc_${tag.session}`,
    senderId: `ou_${tag.session}`,
  };
  plant({ ...message, msgType: "text", content: "{}" });
  const event = textMessage(textOf(tag), { eventId: `ev_${name}`, ...message });
  const { headers, body } = push(event, { token: VERIFICATION });
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sending = request(
      `${url}/channels/feishu/main/events`,
      { method: "POST", agent, headers: { ...headers, "content-length": Buffer.byteLength(body) } },
      (response) => {
        response.resume();
        response.once("end", () =>
          resolve({ status: response.statusCode ?? 0, ms: performance.now() - started }),
        );
      },
    );
    sending.once("error", reject);
    sending.end(body);
  });
}

async function drained(url: string, hasEnded: () => boolean): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  while (!hasEnded()) {
    // A request fails if its connection was idle for too long.
    const response = await fetch(`${url}/api/status`, { headers }).catch(() => undefined);
    const status: unknown = await response?.json();
    const { inboxPending, outboxPending } = Object(status);
    if (inboxPending === 0 && outboxPending === 0) return;
    await sleep(50);
  }
}
