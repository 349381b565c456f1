import { setTimeout as sleep } from "node:timers/promises";
import type { ProofDatabase } from "./database.ts";

/** Work that belongs to a process: its leases with their epochs, and the stamp of its runs and messages. */
export interface Holding {
  readonly node: string;
  /** Epochs by the names of seats and accounts. */
  readonly leases: ReadonlyMap<string, string>;
  /** The epoch of the lease under which it writes. */
  readonly epoch: string;
}

/** Interval at which the database is searched for what is left of a process, in milliseconds. */
const LOOK_MS = 25;

interface LeaseRow {
  readonly name: string;
  readonly epoch: string;
}

const own = (node: string): string => `gateway ${node}`;

/** Reads what a node holds now. */
export async function readHolding({ query }: ProofDatabase, node: string): Promise<Holding> {
  const rows = await query<LeaseRow>(
    "SELECT name, epoch::text FROM lease WHERE holder = $1 AND expires_at > 0",
    [node],
  );
  const leases = rows.filter(({ name }) => name !== own(node) && name !== "maintenance");
  return {
    node,
    leases: new Map(leases.map(({ name, epoch }) => [name, epoch])),
    epoch: rows.find(({ name }) => name === own(node))?.epoch ?? "0",
  };
}

/** Returns the leases that no other process has taken from a node yet. */
async function findLeases({ query }: ProofDatabase, { leases }: Pick<Holding, "leases">): Promise<string[]> {
  const held = await query<LeaseRow>(
    "SELECT name, epoch::text FROM lease WHERE name = ANY($1) AND holder <> ''",
    [[...leases.keys()]],
  );
  const epochs = new Map(held.map((row) => [row.name, row.epoch]));
  return [...leases].flatMap(([name, before]) => {
    const now = epochs.get(name);
    return now === undefined || now === before ? [name] : [];
  });
}

/** Returns what no other process has taken from a node yet, in words for a report. */
async function findLeft(database: ProofDatabase, holding: Holding): Promise<string[]> {
  const { node, epoch } = holding;
  const left = await findLeases(database, holding);
  const stamped = await database.query<{ what: string }>(
    `SELECT 'run of ' || agent_id AS what FROM run
      WHERE state = 'running' AND lease_name = $1 AND lease_epoch = $2
     UNION ALL SELECT 'message ' || seq FROM inbox
      WHERE settled_at IS NULL AND state IN ('accepted', 'queued') AND lease_name = $1 AND lease_epoch = $2`,
    [own(node), epoch],
  );
  return [...left, ...stamped.map(({ what }) => what)];
}

/**
 * Waits until other processes have taken everything that belonged to a node.
 *
 * @returns the milliseconds since `since` and what was taken last, or what is left after the time limit
 */
export async function waitForTakeover(
  database: ProofDatabase,
  holding: Holding,
  { since, limitMs }: { readonly since: number; readonly limitMs: number },
): Promise<{ readonly ms: number; readonly last: readonly string[] } | { readonly left: readonly string[] }> {
  for (let last: readonly string[] = []; ; ) {
    const left = await findLeft(database, holding);
    const ms = performance.now() - since;
    if (left.length === 0) return { ms, last };
    if (ms > limitMs) return { left };
    last = left;
    await sleep(LOOK_MS);
  }
}

/** Waits until other processes have taken the leases of a node, for at most this time in milliseconds. */
export async function waitForLeases(
  database: ProofDatabase,
  holding: Holding,
  limitMs: number,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline && (await findLeases(database, holding)).length > 0)
    await sleep(LOOK_MS);
}

/** A run that a transaction has locked. */
export interface OpenRun {
  readonly n: string;
  readonly sessionKey: string;
}

/** Returns the runs of a node whose sessions these bytes of a transaction name. */
export async function findOpenRuns(
  database: ProofDatabase,
  node: string,
  bytes: Buffer,
): Promise<readonly OpenRun[]> {
  const running = await database.query<OpenRun>(
    `SELECT n::text, session_key AS "sessionKey" FROM run WHERE state = 'running' AND lease_name = $1`,
    [own(node)],
  );
  return running.filter(({ sessionKey }) => bytes.includes(sessionKey));
}

/** Watches runs for some milliseconds and returns the sessions of those that another process took over. */
export async function watchForTakeover(
  database: ProofDatabase,
  node: string,
  runs: readonly OpenRun[],
  ms: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + ms;
  for (;;) {
    const taken = await database.query<{ sessionKey: string }>(
      `SELECT session_key AS "sessionKey" FROM run WHERE n = ANY($1) AND lease_name <> $2`,
      [runs.map(({ n }) => n), own(node)],
    );
    if (taken.length > 0 || performance.now() > deadline) return taken.map(({ sessionKey }) => sessionKey);
    await sleep(LOOK_MS);
  }
}
