import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gatewayToken, type Home, locateHome, openVault, prepareHome, readConfig } from "@signalbox/home";
import type { QueueMode } from "@signalbox/lanes";
import { openStore } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { stringify } from "yaml";
import { resolveConfig } from "../../../src/configure/resolve-config.ts";
import { startGateway } from "../../../src/gateway.ts";
import type { Gateway } from "../../../src/gateway-options.ts";
import type { GatewayBodies } from "../../../src/store.ts";
import { type PlainChannel, plainChannel, plainMessage } from "../../support/plain-channel.ts";
import { answeredIn, type Kind, nameOf, sideText, type Tag, textOf } from "./conversation.ts";
import { type Failpoint, type Failpoints, failpointInstrument, failpointsOf } from "./failpoints.ts";
import { nextTurn } from "./next-turn.ts";
import { readConversation } from "./seen.ts";

/** Where the database fails. */
export type SweepPoint = Extract<Failpoint, `db.${string}`>;

export interface SweepOptions {
  readonly point: SweepPoint;
  /** Whether the disk is full, or breaks: after that the gateway must end. Default: `throw`, the first. */
  readonly failure?: "throw" | "break";
  /** How messages that come while a run goes on are treated. Default: `followup`. */
  readonly mode?: QueueMode;
  /** Every how many-th passing of the point, and from which one on. Default: every one. */
  readonly step?: number;
  readonly from?: number;
  /** Gateways at work at the same time. */
  readonly parallel: number;
}

export interface SweepReport {
  readonly violations: readonly string[];
  /** How often the point is passed where nothing fails. */
  readonly passings: number;
  readonly runs: number;
  /** How often the failure ended the gateway, so that another one had to go on. */
  readonly restarts: number;
}

/** One message of each kind, in one conversation; `exec` needs a sandbox or an owner, which is another test's. */
const KINDS = ["plain", "write", "send", "echo", "silent", "plain"] as const satisfies readonly Kind[];
/** Time limit for a conversation, in milliseconds. Many gateways share the process. */
const REST_MS = 300_000;
const UNKNOWN = "outcome unknown";

/**
 * Lets the database of a gateway fail once, at its first write, at its second, and so on, while a conversation goes on,
 * and checks that each message has its end, its reply once and in order, and its effects.
 */
export async function runSweep({
  point,
  failure = "throw",
  mode = "followup",
  step = 1,
  from = 1,
  parallel,
}: SweepOptions): Promise<SweepReport> {
  /** What the model was told first of tools that failed, or may have done their work, by message. */
  const failed = new Map<string, string>();
  const anthropic = await startAnthropic({
    script(request) {
      const seen = readConversation(request);
      for (const [name, [first = ""]] of seen.failed) failed.set(name, first);
      for (const name of seen.unknown) failed.set(name, UNKNOWN);
      return nextTurn(request);
    },
  });
  try {
    let passings = 0;
    const terms = { modelUrl: anthropic.url, mode, failed };
    const first = await converse(terms, 0, (passed) => {
      if (passed === point) passings++;
    });
    const violations = first.violations.map((text) => `without a failure: ${text}`);
    let restarts = 0;
    let runs = 0;
    let next = from;
    const worker = async (): Promise<void> => {
      for (let count = next; count <= passings; count = next) {
        next += step;
        runs++;
        const found = await converse(terms, count, failpointsOf(`${point}:${count}:${failure}`));
        restarts += found.restarts;
        violations.push(...found.violations.map((text) => `${point}:${count}: ${text}`));
      }
    };
    // Each gateway listens for exceptions of its process.
    process.setMaxListeners(process.getMaxListeners() + parallel);
    await Promise.all(Array.from({ length: parallel }, worker));
    return { violations, passings, runs, restarts };
  } finally {
    await anthropic.stop();
  }
}

interface Conversed {
  readonly violations: readonly string[];
  readonly restarts: number;
}

interface Terms {
  readonly modelUrl: string;
  readonly mode: QueueMode;
  /** What the model was told first of tools that failed, by message. */
  readonly failed: ReadonlyMap<string, string>;
}

async function converse(
  { modelUrl, mode, failed }: Terms,
  session: number,
  failpoints: Failpoints,
): Promise<Conversed> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-sweep-"));
  const home = locateHome(dir, {});
  prepareHome(home);
  writeFileSync(home.configFile, configOf(modelUrl, mode));
  const plain = plainChannel();
  let restarts = 0;
  let gateway: Gateway | undefined;
  let fatal: Error | undefined;
  const start = async (hit?: Failpoints): Promise<void> => {
    fatal = undefined;
    gateway = await open(home, plain, hit, (error) => {
      fatal ??= error;
    });
  };
  /** A service manager's part: what cannot go on is started again. */
  const revive = async (): Promise<void> => {
    restarts++;
    await gateway?.stop().catch(() => {});
    await start();
  };
  try {
    // A failure while it starts is told, and the next start goes well.
    await start(failpoints).catch(() => revive());
    const deadline = performance.now() + REST_MS;
    const late = (): boolean => performance.now() > deadline;
    const tags = KINDS.map((kind, index): Tag => ({ session, number: index + 1, kind }));
    for (const tag of tags) {
      for (;;) {
        if (fatal) await revive();
        const name = nameOf(tag);
        const taken = await plain.emit(plainMessage(name, textOf(tag))).catch(() => "rejected");
        if (taken !== "rejected") break;
        if (late()) return { violations: [`${name} is not taken`], restarts };
        await sleep(20);
      }
    }
    for (;;) {
      if (fatal) await revive();
      const status = await gateway?.service.status().catch(() => undefined);
      if (status?.inboxPending === 0 && status.outboxPending === 0) break;
      if (late()) return { violations: [`it does not come to rest: ${JSON.stringify(status)}`], restarts };
      await sleep(20);
    }
    await gateway?.stop();
    return { violations: await check(home, plain, tags, failed), restarts };
  } finally {
    await gateway?.stop().catch(() => {});
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function open(
  home: Home,
  plain: PlainChannel,
  failpoints: Failpoints | undefined,
  onFatal: (error: Error) => void,
): Promise<Gateway> {
  const loaded = readConfig(home, {});
  const vault = openVault(loaded, {});
  const logger = createLogger("silent", vault.redact);
  const options = { home, loaded, logger, vault, env: {}, channels: [plain.definition] };
  return startGateway(
    {
      ...options,
      token: gatewayToken(loaded, home, {}),
      consoleDir: home.dir,
      onFatal,
      ...(failpoints === undefined ? {} : { instrument: failpointInstrument(failpoints) }),
    },
    await resolveConfig(options),
  );
}

async function check(
  home: Home,
  plain: PlainChannel,
  tags: readonly Tag[],
  failed: ReadonlyMap<string, string>,
): Promise<string[]> {
  const violations: string[] = [];
  const store = await openStore<GatewayBodies>({ path: home.databaseFile });
  try {
    const { ok, problems } = await store.admin.integrity();
    if (!ok) violations.push(`the database is damaged: ${problems.join("; ")}`);
    const texts = plain.sent.map(({ message }) =>
      message.parts.map((part) => ("text" in part ? part.text : "")).join(""),
    );
    // The platform drops what it is sent again under the same key.
    const replies = [...new Map(plain.sent.map(({ key }, index) => [key, texts[index] ?? ""])).values()];
    const answered = replies.flatMap(answeredIn);
    const isSaid = (text: string): boolean => replies.some((reply) => reply.includes(text));
    for (const tag of tags) {
      const name = nameOf(tag);
      const row = await store.inbox.find({ channel: "plain", account: "main", messageId: name });
      if (row?.state !== "replied" && row?.state !== "silent") violations.push(`${name} is ${row?.state}`);
      if (tag.kind === "silent") continue;
      // A tool that could not do its work has said so to the model; so has a process that does not know.
      const what = failed.get(name) ?? "";
      const excused = what === UNKNOWN || what.includes("failpoint");
      const times = answered.filter((one) => one === name).length;
      // A reply that says again what its run has sent is left out.
      const isEchoed = times === 0 && tag.kind === "echo" && isSaid(sideText(name));
      if (times !== 1 && !isEchoed) violations.push(`${name} was answered ${times} times`);
      if (excused) continue;
      if (tag.kind === "send" && !isSaid(sideText(name))) violations.push(`${name} was not said`);
      const note = join(home.workspace("main"), "notes", `${name}.txt`);
      if (tag.kind === "write" && !existsSync(note)) violations.push(`the file of ${name} is missing`);
    }
    if (answered.join() !== answered.toSorted().join())
      violations.push(`out of order: ${replies.join(" | ")}`);
    const rows = await store.inbox.list({ limit: 1_000 });
    if (rows.length !== tags.length) violations.push(`the inbox holds ${rows.length} messages`);
  } finally {
    await store.close();
  }
  return violations;
}

function configOf(modelUrl: string, mode: QueueMode): string {
  return stringify({
    gateway: {
      port: 0,
      auth: { token: "token-of-the-sweep-0123456789-abcdefghijklm" },
      logLevel: "silent",
      shutdownMs: 500,
    },
    models: {
      providers: {
        anthropic: { api: "anthropic-messages", apiKey: "key-of-the-sweep-0123", baseUrl: modelUrl },
      },
    },
    agents: {
      list: [
        { id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: ["read", "write", "message"] } },
      ],
    },
    channels: { plain: { accounts: { main: {} } } },
    session: { queue: { mode, cap: 1_000 } },
    access: { dm: "open", owners: ["plain:anna"] },
  });
}
