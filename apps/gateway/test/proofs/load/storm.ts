import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChannelDefinition, EmitResult, InboundEvent, MessageEvent } from "@signalbox/channel";
import { gatewayToken, locateHome, openVault, prepareHome, readConfig } from "@signalbox/home";
import { openStore } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { stringify } from "yaml";
import { resolveConfig } from "../../../src/configure/resolve-config.ts";
import { startGateway } from "../../../src/gateway.ts";
import type { GatewayBodies } from "../../../src/store.ts";
import { answeredIn, nameOf, type Tag, tagsIn, textOf } from "../crash/conversation.ts";
import type { Random } from "../crash/random.ts";

export interface StormOptions {
  readonly random: Random;
  readonly events: number;
  /** How often each event is delivered. */
  readonly times: number;
  readonly sessions: number;
  readonly progress?: (deliveries: number) => void;
}

export interface StormReport {
  /** One sentence for each event that had not exactly one run and one reply. */
  readonly violations: readonly string[];
  readonly accepted: number;
  readonly duplicates: number;
  /** Refused before acceptance and delivered again later. */
  readonly refused: number;
  readonly runs: number;
  readonly replies: number;
  readonly seconds: number;
}

type Emit = (event: InboundEvent) => Promise<EmitResult>;

/** Deliveries under way at the same time. */
const WORKERS = 128;

/**
 * Delivers every event so many times in a shuffled order to a gateway in this process, through the contract every
 * channel delivers through, and counts the runs and the replies that come of it.
 */
export async function runStorm({
  random,
  events,
  times,
  sessions,
  progress,
}: StormOptions): Promise<StormReport> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-storm-"));
  const asked = new Map<string, number>();
  const replied = new Map<string, number>();
  const anthropic = await startAnthropic({
    check: false,
    script(request) {
      const name = lastName(request);
      asked.set(name, (asked.get(name) ?? 0) + 1);
      return { text: `done ${name}` };
    },
  });
  const channel = loopback((text) => {
    for (const name of answeredIn(text)) replied.set(name, (replied.get(name) ?? 0) + 1);
  });
  try {
    const home = locateHome(dir, {});
    prepareHome(home);
    writeFileSync(home.configFile, configOf(anthropic.url));
    const loaded = readConfig(home, {});
    const vault = openVault(loaded, {});
    const logger = createLogger("error", vault.redact);
    const options = { home, loaded, logger, vault, env: {}, channels: [channel.definition] };
    const fatal: Error[] = [];
    const gateway = await startGateway(
      {
        ...options,
        token: gatewayToken(loaded, home, {}),
        consoleDir: dir,
        onFatal: (error) => fatal.push(error),
      },
      await resolveConfig(options),
    );
    const started = performance.now();
    const tags = Array.from(
      { length: events },
      (_, index): Tag => ({
        session: index % sessions,
        number: Math.floor(index / sessions) + 1,
        kind: "plain",
      }),
    );
    const counts = await deliverAll(channel.emit, shuffled(tags, times, random), progress);
    for (;;) {
      const { inboxPending, outboxPending } = await gateway.service.status();
      if (inboxPending === 0 && outboxPending === 0) break;
      await sleep(20);
    }
    const seconds = (performance.now() - started) / 1000;
    await gateway.stop();
    const store = await openStore<GatewayBodies>({ path: home.databaseFile });
    const rows = await store.inbox.list({ state: "replied", limit: events * times });
    await store.close();
    const violations = [
      ...fatal.map((error) => `the gateway ended: ${error.message}`),
      ...judgeStorm({ names: tags.map(nameOf), asked, replied, rows: rows.length }),
    ];
    return { violations, ...counts, runs: sum(asked), replies: sum(replied), seconds };
  } finally {
    await anthropic.stop();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface StormEvidence {
  /** Every event. */
  readonly names: readonly string[];
  /** How often the model was asked about each. */
  readonly asked: ReadonlyMap<string, number>;
  /** How often each was answered. */
  readonly replied: ReadonlyMap<string, number>;
  /** Messages that the inbox says were replied to. */
  readonly rows: number;
}

/** One run, one reply and one row for each event, and nothing for what was no event. */
export function judgeStorm({ names, asked, replied, rows }: StormEvidence): string[] {
  const known = new Set(names);
  return [
    ...names.flatMap((name) => [
      ...(asked.get(name) === 1 ? [] : [`${name} had ${asked.get(name) ?? 0} runs`]),
      ...(replied.get(name) === 1 ? [] : [`${name} had ${replied.get(name) ?? 0} replies`]),
    ]),
    ...[...replied.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${name} is no event and had a reply`),
    ...(rows === names.length ? [] : [`the inbox holds ${rows} replied messages`]),
  ];
}

interface Counts {
  accepted: number;
  duplicates: number;
  refused: number;
}

async function deliverAll(
  emit: Emit,
  deliveries: Tag[],
  progress: StormOptions["progress"],
): Promise<Counts> {
  const counts: Counts = { accepted: 0, duplicates: 0, refused: 0 };
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let tag = deliveries[next++]; tag !== undefined; tag = deliveries[next++]) {
      if (next % 10_000 === 0) progress?.(next);
      for (;;) {
        const result = await emit(eventOf(tag));
        if (result === "accepted") counts.accepted++;
        else if (result === "duplicate") counts.duplicates++;
        else {
          counts.refused++;
          await sleep(50);
          continue;
        }
        break;
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return counts;
}

/** Fisher and Yates. */
function shuffled(tags: readonly Tag[], times: number, random: Random): Tag[] {
  const all = Array.from({ length: times }, () => tags).flat();
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.int(0, at);
    const [a, b] = [all[at], all[other]];
    if (a && b) [all[at], all[other]] = [b, a];
  }
  return all;
}

function eventOf(tag: Tag): MessageEvent {
  const name = nameOf(tag);
  const person = `p${tag.session}`;
  return {
    type: "message",
    eventId: `e-${name}`,
    messageId: `m-${name}`,
    channel: "loop",
    account: "main",
    conversation: { id: person, kind: "direct" },
    address: person,
    sender: { id: person, isBot: false, isSelf: false },
    addressed: "dm",
    timestamp: Date.now(),
    text: textOf(tag),
    media: [],
    mentions: [],
  };
}

/** A channel that takes events from its caller and gives each text it sends back to it. */
function loopback(onSent: (text: string) => void): { definition: ChannelDefinition; emit: Emit } {
  const ready = Promise.withResolvers<Emit>();
  return {
    emit: async (event) => (await ready.promise)(event),
    definition: {
      specVersion: 1,
      id: "loop",
      meta: { label: "Loopback", description: "Events of a test.", fields: {} },
      config: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
      capabilities: {
        text: { max: 10_000, unit: "codepoints", markup: "plain" },
        stream: "none",
        threads: "none",
        delivery: { idempotencyKey: { windowMs: 3_600_000 } },
        rate: [],
        transports: ["internal"],
      },
      codec: { encode: (address) => String(address), decode: (text) => text },
      create: async (context) => ({
        start: async () => ready.resolve(context.emit),
        stop: async () => {},
        health: () => ({ state: "ready" }),
        self: () => undefined,
        async send(_to, message) {
          for (const part of message.parts) if ("text" in part) onSent(part.text);
          return { parts: message.parts.map((_, index) => ({ index, messageId: `sent-${index}` })) };
        },
      }),
    },
  };
}

function configOf(modelUrl: string): string {
  return stringify({
    gateway: { port: 0, auth: { token: "token-of-the-storm-0123456789-abcdefghijklm" }, logLevel: "error" },
    models: {
      providers: {
        anthropic: { api: "anthropic-messages", apiKey: "key-of-the-storm-0123", baseUrl: modelUrl },
      },
    },
    agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: [] } }] },
    channels: { loop: { accounts: { main: {} } } },
    session: { queue: { mode: "followup", cap: 1_000_000 } },
    access: { dm: "open" },
  });
}

/** The newest message of the conversation that a request holds. */
function lastName(request: unknown): string {
  const tag = tagsIn(JSON.stringify(request)).at(-1);
  return tag === undefined ? "" : nameOf(tag);
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
