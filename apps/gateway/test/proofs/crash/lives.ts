import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore } from "@signalbox/store";
import type { GatewayBodies } from "../../../src/store.ts";
import { check } from "./check.ts";
import type { Exit, GatewayChild } from "./child.ts";
import { commandsLeft } from "./commands-left.ts";
import { type Kind, nameOf } from "./conversation.ts";
import { FAILPOINTS, type Failpoint } from "./failpoints.ts";
import type { Verdict } from "./judge.ts";
import { messageId } from "./platform.ts";
import type { Random } from "./random.ts";
import { TURN } from "./turned-clock.ts";
import { LEASE_MS, openWorld, type World, type WorldOptions } from "./world.ts";

/** How one process of the gateway fares. */
export type Life =
  /** Killed when it passes a failpoint for the `count`-th time. */
  | { readonly kind: "killed-at"; readonly point: Failpoint; readonly count: number }
  /** Killed so many milliseconds after its start. */
  | { readonly kind: "killed-after"; readonly ms: number }
  /** Meets a failing disk or store at each of these, works on or ends by itself, and is killed in the end. */
  | { readonly kind: "failing"; readonly at: readonly Passing[] }
  /** Its clock is turned, on or back; it works on and is killed. The next one has the right time. */
  | { readonly kind: "turned"; readonly ms: number; readonly byMs: number }
  /** Stopped for longer than its lease, goes on, and is killed. */
  | { readonly kind: "stopped"; readonly ms: number }
  /** Told to end, under load. */
  | { readonly kind: "ended"; readonly ms: number };

/** The `count`-th time that a point is passed. */
export interface Passing {
  readonly point: Failpoint;
  readonly count: number;
}

export interface Report extends Verdict {
  readonly kills: number;
  readonly lives: number;
  readonly deliveries: number;
  /** Failpoints that were not passed in time; those processes were killed all the same. */
  readonly unreached: readonly Failpoint[];
  /** Failpoints that killed. */
  readonly reached: readonly Failpoint[];
  /** From each start to the first question to the model about a message that a kill had interrupted, in ms. */
  readonly recoveries: readonly number[];
}

/** How long a life waits for its failpoint: one that is sure to come, and one that may not. */
const SURE_MS = 120_000;
const UNREACHED_MS = 10_000;
/** What people have to write for a point to be passed. */
const WISHES: readonly (readonly [RegExp, Kind])[] = [
  [/^(revise|withdraw|uncertain|retry)\./, "plain"],
  [/^reset\./, "new"],
  [/^compact\./, "compact"],
  [/^dead\./, "refused"],
];
const FAILING_MS = 2_600;
/** How far clocks are turned: on and back again they stay within the hour for which Feishu knows a message's key. */
const TURN_MS = 25 * 60_000;
/** How long one that is told to end may take, until it counts as one that never does. */
const ENDED_MS = 90_000;
/** As many as a process takes in a second where nothing else is at work. */
const MIN_MESSAGES = 20;

/** Every failpoint that kills, in the order a seed gives, with random moments in between. */
export function plannedLives(random: Random, kills: number): Life[] {
  const lives: Life[] = [];
  let points: Failpoint[] = [];
  while (lives.length < kills) {
    if (random.chance(0.25)) {
      lives.push({ kind: "killed-after", ms: random.int(60, 2_500) });
      continue;
    }
    if (random.chance(0.08)) {
      lives.push({ kind: "turned", ms: random.int(100, 1_500), byMs: random.int(-TURN_MS, TURN_MS) });
      continue;
    }
    if (points.length === 0) points = FAILPOINTS.filter((point) => !ELSEWHERE.includes(point));
    const [point] = points.splice(random.int(0, points.length - 1), 1);
    if (point === undefined) continue;
    lives.push({ kind: "killed-at", point, count: random.int(1, usualCount(point)) });
  }
  return lives;
}

/** How often a point is passed in a second or so. */
function usualCount(point: Failpoint): number {
  if (point.startsWith("db.")) return 300;
  if (ONCE.test(point)) return 1;
  if (SOME.test(point)) return 6;
  return FEW.test(point) ? 3 : 18;
}

/** What people, platforms and processes do seldom; most steps share the commit of the next. */
const ONCE = /^(adopt|route|revise|withdraw|reset|compact|uncertain|dead)\./;
const SOME = /^(draft.*|toolStart|tool|toolResult|enqueue)\./;
const FEW = /^(renew|settle|retry|step)\./;

/** Points that every life passes soon, whatever its seed. */
export const SURE: readonly Failpoint[] = FAILPOINTS.filter(
  (point) => !ONCE.test(point) && !FEW.test(point) && !point.startsWith("draft"),
);

/** Points that no life of this world passes: all its people have their place from the start. */
export const ELSEWHERE: readonly Failpoint[] = ["route.before", "route.after"];

/** One home through many lives. Rejects only where the harness itself cannot go on. */
export async function runLives(
  lives: readonly Life[],
  options: WorldOptions & {
    /** What the process meets in which everything comes to its end; it must live through it. */
    readonly last?: Extract<Life, { kind: "failing" }>;
    /** How long that process works before people stop writing, in milliseconds. */
    readonly loadMs?: number;
    /** Minimum number of messages that it acknowledges before people stop writing. Default: 20. */
    readonly minMessages?: number;
    readonly progress?: (life: Life, exit: Exit) => void;
  },
): Promise<Report> {
  const world = await openWorld(options);
  const unreached: Failpoint[] = [];
  const reached: Failpoint[] = [];
  const recoveries: number[] = [];
  const strange: string[] = [];
  let kills = 0;
  try {
    for (const life of lives) {
      const interrupted = await interruptedIn(world);
      const gateway = world.start(environment(life));
      const before = unreached.length;
      world.wish(wishOf(life));
      const exit = await live(life, gateway, unreached);
      if (life.kind === "killed-at" && unreached.length === before) reached.push(life.point);
      for (const command of await commandsLeft()) strange.push(`left: ${command}`);
      if (exit.signal === "SIGKILL" && life.kind !== "ended") kills++;
      else if (!expected(life, exit))
        strange.push(`${JSON.stringify(life)} ended with ${JSON.stringify(exit)}: ${gateway.said()}`);
      noteRecovery(world, gateway, interrupted, recoveries);
      options.progress?.(life, exit);
    }
    world.wish(undefined);
    const interrupted = await interruptedIn(world);
    const last = world.start({
      ...(options.last ? environment(options.last) : {}),
      ...(world.wasTurned() ? { SIGNALBOX_TURN_MS: String(TURN_MS) } : {}),
    });
    if (options.last || options.loadMs !== undefined) await worked(world, last, options);
    await world.settle(last);
    noteRecovery(world, last, interrupted, recoveries);
    const verdict = await check(world);
    return {
      ...verdict,
      violations: [...verdict.violations, ...strange],
      kills,
      lives: lives.length,
      deliveries: world.platform.deliveries(),
      unreached,
      reached,
      recoveries,
    };
  } finally {
    await world.close();
  }
}

/** Lets a gateway work for some time, and on a busy machine until it has acknowledged a few messages. */
async function worked(
  { platform }: World,
  gateway: GatewayChild,
  options: { readonly loadMs?: number; readonly minMessages?: number; readonly restMs?: number },
): Promise<void> {
  await gateway.listening;
  const count = (): number => platform.acknowledged.length + platform.unaddressed.length;
  const enough = count() + (options.minMessages ?? MIN_MESSAGES);
  await sleep(options.loadMs ?? FAILING_MS);
  const deadline = performance.now() + (options.restMs ?? SURE_MS);
  while (count() < enough && !gateway.ended() && performance.now() < deadline) await sleep(20);
}

function wishOf(life: Life): Kind | undefined {
  return life.kind === "killed-at" ? WISHES.find(([points]) => points.test(life.point))?.[1] : undefined;
}

function environment(life: Life): Record<string, string> {
  if (life.kind === "killed-at") return { SIGNALBOX_FAILPOINT: `${life.point}:${life.count}:kill` };
  if (life.kind === "failing")
    return { SIGNALBOX_FAILPOINT: life.at.map(({ point, count }) => `${point}:${count}:throw`).join(",") };
  if (life.kind === "turned") return { SIGNALBOX_TURN_MS: String(life.byMs) };
  return {};
}

async function live(life: Life, gateway: GatewayChild, unreached: Failpoint[]): Promise<Exit> {
  const kill = async (): Promise<Exit> => {
    gateway.signal("SIGKILL");
    return gateway.exited;
  };
  const within = (ms: number): Promise<Exit | undefined> =>
    Promise.race([gateway.exited, sleep(ms, undefined, { ref: false })]);
  switch (life.kind) {
    case "killed-at": {
      const exit = await within(SURE.includes(life.point) ? SURE_MS : UNREACHED_MS);
      if (exit) return exit;
      unreached.push(life.point);
      return kill();
    }
    case "killed-after":
      return (await within(life.ms)) ?? kill();
    case "failing":
      return (await within(FAILING_MS)) ?? kill();
    case "turned":
      await gateway.listening;
      await sleep(life.ms);
      gateway.signal(TURN);
      return (await within(FAILING_MS)) ?? kill();
    case "stopped": {
      await gateway.listening;
      await sleep(life.ms);
      gateway.signal("SIGSTOP");
      await sleep(2 * LEASE_MS);
      gateway.signal("SIGCONT");
      return (await within(500)) ?? kill();
    }
    case "ended":
      await gateway.listening;
      await sleep(life.ms);
      gateway.signal("SIGTERM");
      return (await within(ENDED_MS)) ?? kill();
  }
}

/** Whether a process may end by itself like that. */
function expected(life: Life, { code }: Exit): boolean {
  if (life.kind === "ended") return code === 0;
  // A disk that cannot be synced leaves nothing but a new start; one that is full at the start is said so.
  return life.kind === "failing" && (code === 1 || code === 73);
}

/** Messages that the process which just died has left to the next one: in the middle of a run, or waiting for one. */
async function interruptedIn(world: World): Promise<ReadonlySet<string>> {
  const file = join(world.home, "signalbox.db");
  if (!existsSync(file)) return new Set();
  const store = await openStore<GatewayBodies>({ path: file });
  try {
    const found = new Set<string>();
    for (const state of ["running", "queued"] as const)
      for (const { messageId: id } of await store.inbox.list({ state, limit: 10_000 })) if (id) found.add(id);
    const names = world.platform.acknowledged.map(nameOf);
    return new Set(names.filter((name) => found.has(messageId(name))));
  } finally {
    await store.close();
  }
}

function noteRecovery(
  world: World,
  gateway: GatewayChild,
  interrupted: ReadonlySet<string>,
  recoveries: number[],
): void {
  const first = world.asked.find(({ name, at }) => at > gateway.startedAt && interrupted.has(name));
  if (first) recoveries.push(first.at - gateway.startedAt);
}
