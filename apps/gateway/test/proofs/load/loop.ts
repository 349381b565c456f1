import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { ScriptedTurn } from "@signalbox/testkit";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { startFeishu } from "@signalbox/testkit/feishu";
import { stringify } from "yaml";
import { startGateway } from "../crash/child.ts";

/** Longer than this nobody's event loop is to be held by what is kept: rows, skills, notes and files. Milliseconds. */
const MOST_MS = 20;
/** The same of what is sent, which has a limit of its size and is read in one piece. */
const MOST_MS_OF_SENT = 50;
const TOKEN = "token-of-the-loop-0123456789";
const HOOK = "secret-of-the-hook-zk4-0123456789";
const APP = { appId: "cli_loop", appSecret: "secret-of-the-feishu-app" };
const VERIFICATION = "verification-of-the-app";
const PROBE = pathToFileURL(join(import.meta.dirname, "loop-probe.ts")).href;
/** What an excess does, it does each time; what a busy machine does, and what is loaded at first use, it does not. */
export const ROUNDS = 4;
/** By then everything is loaded that a gateway loads ahead. */
const LOADED_MS = 8_000;

/** What an excess may do to a gateway that runs. */
export interface Target {
  readonly home: string;
  readonly workspace: string;
  readonly url: string;
  readonly token: string;
  readonly hook: string;
  readonly feishu: Awaited<ReturnType<typeof startFeishu>>;
  /** What the model answers next, in order; then it says that it is done. */
  script(turns: readonly ScriptedTurn[]): void;
  /** Waits until every message has its end and every reply is out. */
  settled(): Promise<void>;
}

/** Something that is too large, and what makes the gateway come upon it. */
export interface Excess {
  readonly name: string;
  readonly isSent?: boolean;
  work(target: Target, round: number): Promise<void>;
}

export interface LoopReport {
  readonly violations: readonly string[];
  /** Milliseconds, of all that was tried. */
  readonly longest: number;
}

/** Gives a built gateway what is too large, piece by piece, and measures how long each held its event loop at most. */
export async function runLoop(excesses: readonly Excess[]): Promise<LoopReport> {
  const home = mkdtempSync(join(tmpdir(), "signalbox-loop-"));
  const workspace = join(home, "workspaces", "main");
  mkdirSync(workspace, { recursive: true });
  const turns: ScriptedTurn[] = [];
  const anthropic = await startAnthropic({ check: false, script: () => turns.shift() ?? { text: "Done." } });
  const feishu = await startFeishu({ ...APP, verificationToken: VERIFICATION });
  writeFileSync(join(home, "signalbox.yaml"), stringify(configFor(anthropic.url, feishu.url)), {
    mode: 0o600,
  });
  const probe = join(home, "probe.json");
  const gateway = startGateway(home, {
    NODE_OPTIONS: `--import=${PROBE}`,
    SIGNALBOX_LOOP_PROBE: probe,
  });
  let asked = 0;
  const longest = async (): Promise<number> => {
    asked += 1;
    gateway.signal("SIGUSR2");
    for (;;) {
      const answer = readAnswer(probe);
      if (answer?.asked === asked) return answer.longestMs;
      if (gateway.ended()) throw new Error(`the gateway ended: ${gateway.said()}`);
      await sleep(10);
    }
  };
  try {
    const url = await gateway.listening;
    const target: Target = {
      home,
      workspace,
      url,
      token: TOKEN,
      hook: HOOK,
      feishu,
      script: (next) => void turns.splice(0, turns.length, ...next),
      settled: () => settled(url),
    };
    await sleep(LOADED_MS);
    let longestOfAll = 0;
    const violations: string[] = [];
    for (const { name, isSent = false, work } of excesses) {
      const rounds: number[] = [];
      for (let round = 1; round <= ROUNDS; round++) {
        await longest();
        await work(target, round);
        await sleep(50);
        rounds.push(await longest());
      }
      const held = Math.min(...rounds);
      longestOfAll = Math.max(longestOfAll, held);
      if (held > (isSent ? MOST_MS_OF_SENT : MOST_MS))
        violations.push(`${name} held the event loop for ${held.toFixed(1)} ms`);
      console.log(`${name}: ${rounds.map((ms) => ms.toFixed(1)).join(", ")} ms`);
    }
    gateway.signal("SIGTERM");
    const { code } = await gateway.exited;
    if (code !== 0) violations.push(`the gateway ended with ${code}: ${gateway.said()}`);
    return { violations, longest: longestOfAll };
  } finally {
    gateway.signal("SIGKILL");
    await gateway.exited;
    await Promise.all([anthropic.stop(), feishu.stop()]);
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function configFor(model: string, feishu: string): object {
  return {
    gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn" },
    models: {
      providers: { anthropic: { api: "anthropic-messages", apiKey: "key-of-the-loop-0123", baseUrl: model } },
    },
    agents: { list: [{ id: "main", model: "anthropic/claude-sonnet-4-6", tools: { allow: ["*"] } }] },
    channels: {
      feishu: { accounts: { main: { ...APP, verificationToken: VERIFICATION, baseUrl: feishu } } },
    },
    hooks: { build: { secret: HOOK } },
    access: { dm: "open", owners: ["feishu:ou_owner"] },
  };
}

function readAnswer(file: string): { readonly asked: number; readonly longestMs: number } | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Not asked yet.
    return undefined;
  }
}

async function settled(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { inboxPending, outboxPending } = (await response.json()) as Record<string, number>;
    if (inboxPending === 0 && outboxPending === 0) return;
    await sleep(50);
  }
}
