import { setTimeout as sleep } from "node:timers/promises";
import type { Exit, GatewayChild } from "../crash/child.ts";
import type { Random } from "../crash/random.ts";
import {
  findOpenRuns,
  type Holding,
  readHolding,
  waitForLeases,
  waitForTakeover,
  watchForTakeover,
} from "./leases.ts";
import type { Node } from "./nodes.ts";
import type { ClusterWorld } from "./world.ts";

/** Disturbances of a cluster, in the order of a report. */
export const DISTURBANCES = [
  "kill",
  "stop",
  "black hole",
  "late commit",
  "lost commits",
  "slow network",
  "restart",
  "outage",
  "promotion",
  "rolling restart",
] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** Time until other processes had taken everything over. */
interface Takeover {
  readonly ms: number;
  /** What was taken last. */
  readonly last: readonly string[];
}

/** Figures and broken promises of one disturbance. */
export interface Outcome {
  readonly takeovers: readonly Takeover[];
  readonly violations: readonly string[];
}

/** Time after which a takeover counts as missing, in milliseconds. */
const TAKEOVER_LIMIT_MS = 60_000;
/** Time limit for a process without seats to end, in milliseconds. */
const FENCED_MS = 60_000;
/** Longest wait for a node to write a message, in milliseconds. */
const IDLE_MS = 3_000;
/**
 * Time for which a held transaction stays open, in milliseconds. The database ends it after five seconds, which only a
 * shorter lease lets other nodes see.
 */
const HELD_MS = 4_500;
/** Time limit for all leases to be renewed after the database has come back, in milliseconds. */
const RENEWED_MS = 60_000;

/** Disturbs a cluster. Resolves when all nodes run again. */
export async function disturb(what: Disturbance, world: ClusterWorld, random: Random): Promise<Outcome> {
  const outcome = await DISTURB[what](world, random);
  await world.startAll();
  return outcome;
}

const DISTURB: Readonly<Record<Disturbance, (world: ClusterWorld, random: Random) => Promise<Outcome>>> = {
  kill,
  stop,
  "black hole": interruptNetwork,
  "late commit": delayCommit,
  "lost commits": loseCommits,
  "slow network": slowNetwork,
  restart: restartDatabase,
  outage: stopDatabase,
  promotion: promoteStandby,
  "rolling restart": restartNodes,
};

/** Returns a time in milliseconds after which a lease has expired that is not renewed. */
function beyondLease({ leaseMs }: ClusterWorld, random: Random): number {
  return leaseMs + random.int(700, 3_000);
}

/** A node whose process runs. */
interface Victim {
  readonly node: Node;
  readonly child: GatewayChild;
}

function pickVictim({ nodes }: ClusterWorld, random: Random): Victim {
  const running = nodes.flatMap((node) => {
    const child = node.child();
    return child === undefined ? [] : [{ node, child }];
  });
  const [first, ...others] = running;
  if (first === undefined) throw new Error("no gateway runs");
  return random.pick([first, ...others]);
}

/** Kills a node, now and then two. They start again at once, or after others have taken over. */
async function kill(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { database, expectExit } = world;
  const first = pickVictim(world, random);
  // Somebody must take over.
  const mayKillTwo = world.nodes.length > 2;
  const second = mayKillTwo && random.chance(0.15) ? pickVictim(world, random) : first;
  const victims = [...new Set([first.child, second.child])].map((child) =>
    child === first.child ? first : second,
  );
  const holdings = await Promise.all(victims.map(({ node }) => readHolding(database, node.id())));
  const since = performance.now();
  for (const { child } of victims) {
    expectExit(child);
    child.signal("SIGKILL");
  }
  await Promise.all(victims.map(({ child }) => child.exited));
  if (random.chance(0.5)) {
    await world.startAll();
    return { takeovers: [], violations: [] };
  }
  return mergeOutcomes(await Promise.all(holdings.map((holding) => takeOver(world, holding, since))));
}

/** Suspends a process beyond its lease. When it continues, it must notice the loss of its seats and end. */
async function stop(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { node, child } = pickVictim(world, random);
  world.expectExit(child);
  const holding = await readHolding(world.database, node.id());
  const since = performance.now();
  child.signal("SIGSTOP");
  const outcome = await takeOver(world, holding, since);
  await sleep(Math.max(1, beyondLease(world, random) - (performance.now() - since)));
  child.signal("SIGCONT");
  return mergeOutcomes([outcome, await mustEnd(child, holding)]);
}

/** Drops the packets between a node and the database for longer than a lease. */
async function interruptNetwork(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { node, child } = pickVictim(world, random);
  world.expectExit(child);
  const holding = await readHolding(world.database, node.id());
  const since = performance.now();
  node.proxy.interrupt();
  const outcome = await takeOver(world, holding, since);
  await sleep(Math.max(1, beyondLease(world, random) - (performance.now() - since)));
  node.proxy.restore(random.pick(["resume", "reset"]));
  return mergeOutcomes([outcome, await mustEnd(child, holding)]);
}

/**
 * Holds a commit that adds a message to a conversation until other nodes have taken the leases, and then delivers it.
 * The rows of the transaction are locked meanwhile, so nobody may take over its run before the commit.
 */
async function delayCommit(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { node, child } = pickVictim(world, random);
  world.expectExit(child);
  const held = await Promise.race([
    node.proxy.interruptAt('insert into "message"'),
    sleep(IDLE_MS, Buffer.alloc(0)),
  ]);
  const holding = await readHolding(world.database, node.id());
  const since = performance.now();
  node.proxy.interrupt();
  const open = await findOpenRuns(world.database, node.id(), held);
  await waitForLeases(world.database, holding, TAKEOVER_LIMIT_MS);
  const left = since + HELD_MS - performance.now();
  const taken = left > 0 ? await watchForTakeover(world.database, node.id(), open, left) : [];
  const violations = taken.map((key) => `fence: a run of ${key} was taken over while a write to it was open`);
  node.proxy.restore("resume");
  return mergeOutcomes([
    { takeovers: [], violations },
    await takeOver(world, holding, since),
    await mustEnd(child, holding),
  ]);
}

/** Loses the answers to some commits of a node, which must find out whether they were executed. */
async function loseCommits(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { node } = pickVictim(world, random);
  for (let times = random.int(2, 5); times > 0; times -= 1) {
    node.proxy.loseCommits(random.int(1, 3));
    await sleep(random.int(100, 600));
  }
  node.proxy.loseCommits(0);
  if (random.chance(0.5)) node.proxy.reset();
  return NOTHING;
}

async function slowNetwork(world: ClusterWorld, random: Random): Promise<Outcome> {
  const { node } = pickVictim(world, random);
  node.proxy.delay(random.int(10, 100));
  await sleep(random.int(1_000, 3_000));
  node.proxy.delay(0);
  return NOTHING;
}

async function restartDatabase(world: ClusterWorld, random: Random): Promise<Outcome> {
  await world.server.restart(random.int(0, 2_000));
  return mustSurvive(world);
}

/** Restarts the database after more than a lease. No node may take anything from another one. */
async function stopDatabase(world: ClusterWorld, random: Random): Promise<Outcome> {
  await world.server.restart(beyondLease(world, random));
  return mustSurvive(world);
}

async function promoteStandby(world: ClusterWorld, random: Random): Promise<Outcome> {
  const promote = await world.server.addStandby();
  await sleep(random.int(500, 2_000));
  await promote(random.chance(0.5) ? random.int(0, 1_000) : beyondLease(world, random));
  for (const { proxy } of world.nodes) {
    proxy.setTarget(world.server.port());
    proxy.reset();
  }
  return mustSurvive(world);
}

/** Ends and starts one node after the other, as an upgrade does. */
async function restartNodes(world: ClusterWorld): Promise<Outcome> {
  const violations: string[] = [];
  for (const { name, child } of world.nodes) {
    const running = child();
    if (running === undefined) continue;
    world.expectExit(running);
    running.signal("SIGTERM");
    const { code, signal } = await running.exited;
    if (code !== 0)
      violations.push(`ended: ${name} ended with ${code ?? signal} after SIGTERM: …${logEnd(running)}`);
    await world.startAll();
  }
  return { takeovers: [], violations };
}

const NOTHING: Outcome = { takeovers: [], violations: [] };

async function takeOver({ database }: ClusterWorld, holding: Holding, since: number): Promise<Outcome> {
  const result = await waitForTakeover(database, holding, { since, limitMs: TAKEOVER_LIMIT_MS });
  if ("ms" in result) return { takeovers: [result], violations: [] };
  const { left } = result;
  return { takeovers: [], violations: [`takeover: nobody took ${left.join(", ")} of ${holding.node}`] };
}

/** A process without its seats must end by itself. One that had none may go on. */
async function mustEnd(child: GatewayChild, { leases }: Holding): Promise<Outcome> {
  const hadSeats = [...leases.keys()].some((name) => name.startsWith("seat "));
  const limit = sleep(hadSeats ? FENCED_MS : 0, undefined, { ref: false });
  const exit = await Promise.race([child.exited, limit]);
  if (exit === undefined && !hadSeats) return NOTHING;
  if (isFenced(exit)) return NOTHING;
  if (exit === undefined) {
    child.signal("SIGKILL");
    await child.exited;
  }
  const how = exit === undefined ? "goes on" : `ended with ${exit.code ?? exit.signal}`;
  return { takeovers: [], violations: [`fence: a node without its seats ${how}: …${logEnd(child)}`] };
}

/** A node that ends itself exits with 1, so that its service manager starts it again. */
const isFenced = (exit: Exit | undefined): boolean => exit?.code === 1;

/**
 * Waits until every node has renewed its lease. Processes that end are reported by the world and started again, because
 * a node whose commit has an unknown outcome ends itself.
 */
async function mustSurvive({ database, nodes, startAll }: ClusterWorld): Promise<Outcome> {
  const since = performance.now();
  const names = nodes.filter((node) => node.child() !== undefined).map((node) => `gateway ${node.id()}`);
  for (;;) {
    await startAll();
    const [{ renewed = 0 } = {}] = await database.query<{ renewed: number }>(
      `SELECT count(*)::int AS renewed FROM lease WHERE name = ANY($1)
        AND expires_at > extract(epoch FROM clock_timestamp()) * 1000`,
      [names],
    );
    if (renewed === names.length)
      return { takeovers: [{ ms: performance.now() - since, last: [] }], violations: [] };
    if (performance.now() - since > RENEWED_MS)
      return { takeovers: [], violations: [`takeover: only ${renewed} of ${names.length} nodes came back`] };
    await sleep(25);
  }
}

function mergeOutcomes(outcomes: readonly Outcome[]): Outcome {
  return {
    takeovers: outcomes.flatMap(({ takeovers }) => takeovers),
    violations: outcomes.flatMap(({ violations }) => violations),
  };
}

/** The end of a log says why a process ended. */
const LOG_END = 600;

function logEnd(child: GatewayChild): string {
  return child.said().slice(-LOG_END);
}
