import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStore, type SqliteStore } from "@signalbox/store";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { stringify } from "yaml";
import type { GatewayBodies } from "../../../src/store.ts";
import { type GatewayChild, startGateway } from "../crash/child.ts";
import type { Random } from "../crash/random.ts";
import { ENDS } from "../crash/reading.ts";
import type { KilledPlatform } from "./platform.ts";

const KEY = "key-of-the-model-0123456789";
const TOKEN = "token-of-the-owner-0123456789-abcdefghijklm";
/** Number of people who write at the same time. */
const WRITERS = 4;
/** Time without a change after which everything counts as ended, in milliseconds. */
const QUIET_MS = 3_000;
/** Maximum lifetime of a process after it has connected, in milliseconds. */
const LIFE_MS = 10_000;
/** Maximum number of starts after the first orderly stop. */
const MAX_STOPS = 3;
/** Time limit for everything to come to an end after the last kill, in milliseconds. */
const REST_MS = 300_000;

export interface KillReport {
  /** A sentence for each broken promise. */
  readonly violations: readonly string[];
  readonly kills: number;
  /** Messages that the gateway acknowledged. */
  readonly messages: number;
  readonly answers: number;
  /** Answers with an unknown outcome, which are announced and not repeated. None of them is at the platform. */
  readonly uncertain: number;
  /** Messages in flight at a kill that the platform has forgotten. */
  readonly lost: number;
}

interface Row {
  readonly state: string;
  readonly text: string;
}

/**
 * Kills a gateway while people write to it on one platform, and checks that every acknowledged message is stored once
 * and answered at most once, and that an answer is missing only if its outcome is unknown. Messages in flight may be
 * lost on platforms that forget them, but then the gateway has to report a gap.
 */
export async function runKills(
  platform: KilledPlatform,
  { kills, random }: { readonly kills: number; readonly random: Random },
): Promise<KillReport> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-kills-"));
  const anthropic = await startAnthropic({
    apiKeys: [KEY],
    script: (request) => ({ text: answerTo(JSON.stringify(request)) }),
  });
  writeFileSync(join(home, "signalbox.yaml"), configOf(platform, anthropic.url));
  const writing = new AbortController();
  const acknowledged: number[] = [];
  let next = 1;
  async function write(): Promise<void> {
    while (!writing.signal.aborted) {
      const person = next++;
      await platform.deliver(person, questionOf(person));
      acknowledged.push(person);
      await delay(random.int(0, 60));
    }
  }
  let gateway: GatewayChild | undefined;
  const unreported: number[] = [];
  /** Notes whether a process that was started after a kill has reported a gap. */
  const noteGap = (life: number, ended: GatewayChild): void => {
    const isReported = ended.said().includes("may have missed messages");
    if (platform.mayBeLost !== undefined && life > 0 && !isReported) unreported.push(life);
  };
  const start = async (): Promise<GatewayChild> => {
    gateway = startGateway(home, { SIGNALBOX_LEASE_MS: "900" });
    await platform.connect(await gateway.listening);
    return gateway;
  };
  const finish = async (running: GatewayChild): Promise<void> => {
    await waitForRest(home, platform, acknowledged);
    running.signal("SIGTERM");
    await running.exited;
  };
  let writers: Promise<unknown> | undefined;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const running = await start();
      writers ??= Promise.all(Array.from({ length: WRITERS }, write));
      if (kill === 0 || random.chance(0.5)) platform.loseResponse();
      await answers(platform, platform.sent().length + random.int(1, 6));
      await delay(random.int(0, 150));
      running.signal("SIGKILL");
      await running.exited;
      noteGap(kill, running);
    }
    writing.abort();
    const last = await start();
    await writers;
    await finish(last);
    noteGap(kills, last);
    // A lookup that ends during the stop returns its row to the outbox, and the next process sends it.
    for (let more = 0; more < MAX_STOPS && (await hasPending(home)); more += 1) await finish(await start());
    const { violations, ...figures } = await judge(home, platform, acknowledged);
    const gaps = unreported.map((life) => `unreported: process ${life} reported no gap`);
    return { kills, messages: acknowledged.length, ...figures, violations: [...violations, ...gaps] };
  } finally {
    writing.abort();
    gateway?.signal("SIGKILL");
    await gateway?.exited;
    await Promise.all([platform.stop(), anthropic.stop()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Waits until the bot has sent so many messages, or for a while. A message that is interrupted in three processes in a
 * row would be set aside.
 */
async function answers(platform: KilledPlatform, count: number): Promise<void> {
  const deadline = performance.now() + LIFE_MS;
  while (platform.sent().length < count && performance.now() < deadline) await delay(5);
}

function questionOf(person: number): string {
  return `<<question ${person}>>`;
}

function answerTo(request: string): string {
  const [, person] = /.*<<question (\d+)>>/s.exec(request) ?? [];
  return `answer ${person};`;
}

async function readStore<T>(
  home: string,
  read: (store: SqliteStore<GatewayBodies>) => Promise<T>,
): Promise<T> {
  const store = await openStore<GatewayBodies>({ path: join(home, "signalbox.db"), access: "read" });
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Returns the answers in the outbox. Notices of the gateway are left out. */
async function listAnswers({ outbox }: SqliteStore<GatewayBodies>): Promise<readonly Row[]> {
  const rows = await outbox.list({
    states: ["pending", "sending", "sent", "uncertain", "dead", "expired"],
    limit: 100_000,
  });
  return rows
    .map(({ state, payload }) => ({
      state,
      text: payload.parts.flatMap((part) => ("text" in part ? [part.text] : [])).join(""),
    }))
    .filter(({ text }) => text.startsWith("answer "));
}

async function hasPending(home: string): Promise<boolean> {
  return (await readStore(home, listAnswers)).some(({ state }) => state === "pending");
}

/**
 * Waits until every message has ended and every answer was sent. An answer that was being sent when a process died and
 * is not at the platform waits for two minutes, which is not waited for here.
 */
async function waitForRest(
  home: string,
  platform: KilledPlatform,
  acknowledged: readonly number[],
): Promise<void> {
  const deadline = performance.now() + REST_MS;
  let restedAt: number | undefined;
  // The database stays open, because to open it takes longer than to read it.
  await readStore(home, async (store) => {
    for (;;) {
      const inbox = await store.inbox.list({ limit: 100_000 });
      const rows = await listAnswers(store);
      const sent = new Set(platform.sent());
      const received = new Set(inbox.map(({ payload }) => payload.event.messageId));
      // A message in the database of a platform may not have reached the gateway yet.
      const missing = acknowledged.filter(
        (person) => !received.has(platform.messageId(person)) && platform.mayBeLost?.(person) !== true,
      );
      const isOpen = missing.length > 0 || inbox.some(({ state }) => !ENDS.has(state));
      const moving = rows.filter(
        ({ state, text }) => state === "pending" || (state === "sending" && sent.has(text)),
      );
      // The request of a row that is `sending` may be in flight.
      restedAt = isOpen || moving.length > 0 ? undefined : (restedAt ?? performance.now());
      if (restedAt !== undefined && performance.now() - restedAt > QUIET_MS) return;
      if (performance.now() > deadline)
        throw new Error(`the gateway did not come to rest: ${JSON.stringify({ moving, missing })}`);
      await delay(100);
    }
  });
}

async function judge(
  home: string,
  platform: KilledPlatform,
  acknowledged: readonly number[],
): Promise<Omit<KillReport, "kills" | "messages">> {
  const { channel, findsNothing = false } = platform;
  const rows = await readStore(home, listAnswers);
  const violations: string[] = [];
  let lost = 0;
  const times = new Map<string, number>();
  for (const text of platform.sent().filter((one) => one.startsWith("answer ")))
    times.set(text, (times.get(text) ?? 0) + 1);
  const stateOf = new Map(rows.map(({ text, state }) => [text, state]));
  const uncertain = rows.filter(({ state }) => state === "sending" || state === "uncertain");
  const announced = new Set(uncertain.map(({ text }) => text));
  for (const { text } of uncertain)
    if (times.has(text) && !findsNothing)
      violations.push(`unfound: "${text}" is at the platform and was not found`);
  for (const { state, text } of rows) if (state === "dead") violations.push(`dead: "${text}"`);
  for (const [text, count] of times)
    if (count > 1) violations.push(`twice: "${text}" was sent ${count} times`);
  await readStore(home, async (store) => {
    for (const person of acknowledged) {
      const messageId = platform.messageId(person);
      const found = await store.inbox.find({ channel, account: "main", messageId });
      if (found === undefined && platform.mayBeLost?.(person) === true) {
        lost += 1;
        continue;
      }
      if (found === undefined) violations.push(`lost: ${messageId} was acknowledged and is not stored`);
      const answer = answerTo(questionOf(person));
      if (!times.has(answer) && !announced.has(answer))
        violations.push(
          `lost: "${answer}" was not sent (${found?.state}, ${stateOf.get(answer) ?? "no reply"})`,
        );
    }
    const { ok, problems } = await store.admin.integrity();
    if (!ok) violations.push(`damaged: ${problems.join("; ")}`);
  });
  return { violations, answers: times.size, uncertain: uncertain.length, lost };
}

function configOf({ channel, account }: KilledPlatform, modelUrl: string): string {
  return stringify({
    gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn" },
    models: { providers: { anthropic: { api: "anthropic-messages", apiKey: KEY, baseUrl: modelUrl } } },
    agents: {
      defaults: { heartbeat: { enabled: false } },
      list: [{ id: "worker", model: "anthropic/claude-sonnet-4-6", tools: { allow: [] } }],
    },
    channels: { [channel]: { accounts: { main: account } } },
    access: { dm: "open" },
    tools: { exec: { sandbox: "none" } },
  });
}
