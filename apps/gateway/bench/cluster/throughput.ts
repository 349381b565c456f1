import { readdirSync, readFileSync } from "node:fs";
import type { DatabaseServer } from "../../test/proofs/cluster/database.ts";
import { now, one, row } from "../report.ts";
import { type Setup, setUp } from "../setup.ts";
import { FeishuSurface } from "../surfaces.ts";
import { type BenchNodes, type NodesOptions, peerOf, startNodes, waitForSeats } from "./nodes.ts";

const SESSIONS = 32;
/** Messages of each session before anything is measured. */
const WARM = 10;
const MESSAGES = 40;
/** Sessions and messages for the number of round trips. */
const COUNTED = { sessions: 8, messages: 20 };
/** The kernel counts CPU time in units of this many milliseconds. */
const TICK_MS = 10;

interface Figures {
  readonly rate: number;
  readonly gatewayMs: number;
  readonly databaseMs: number;
  readonly walBytes: number;
}

/** Messages a second and their costs, on SQLite and on 1, 2 and 4 nodes that share a database. */
export async function measureThroughput(server: DatabaseServer): Promise<void> {
  const sqlite = await measure({ count: 1, sessions: SESSIONS });
  row({ name: "messages a second, one gateway on SQLite", ours: one(sqlite.rate) });
  row({ name: "  CPU a message, ms", ours: one(sqlite.gatewayMs) });
  for (const count of [1, 2, 4]) {
    const figures = await measure({ count, server, sessions: SESSIONS });
    const nodes = count === 1 ? "1 node" : `${count} nodes`;
    const floor = (value: number) => ({ name: "SQLite", value: one(value) });
    row({
      name: `messages a second, ${nodes} on PostgreSQL`,
      ours: one(figures.rate),
      floor: floor(sqlite.rate),
    });
    row({
      name: "  CPU a message in the gateways, ms",
      ours: one(figures.gatewayMs),
      floor: floor(sqlite.gatewayMs),
    });
    row({ name: "  CPU a message in the database, ms", ours: one(figures.databaseMs) });
    row({ name: "  WAL a message, KB", ours: one(figures.walBytes / 1024) });
  }
  const roundTrips = await countRoundTrips(server);
  row({
    name: "round trips a message, with polling",
    ours: one(roundTrips.aMessage),
    marks: [{ atMost: 8 }],
  });
  row({ name: "round trips a second of an idle node", ours: one(roundTrips.idle) });
}

async function measure(options: NodesOptions): Promise<Figures> {
  const setup = await setUp();
  const nodes = await startNodes(setup, options);
  try {
    await waitForSeats(nodes);
    const surface = spreadOver(setup, nodes);
    await exchange(surface, SESSIONS, 0, WARM);
    const before = await readCosts(nodes, options.server);
    const started = now();
    await exchange(surface, SESSIONS, WARM, WARM + MESSAGES);
    const seconds = (now() - started) / 1000;
    const after = await readCosts(nodes, options.server);
    const count = SESSIONS * MESSAGES;
    return {
      rate: count / seconds,
      gatewayMs: (after.gatewayMs - before.gatewayMs) / count,
      databaseMs: (after.databaseMs - before.databaseMs) / count,
      walBytes: (after.walBytes - before.walBytes) / count,
    };
  } finally {
    await nodes.stop();
    await setup.stop();
  }
}

async function countRoundTrips(server: DatabaseServer): Promise<{ aMessage: number; idle: number }> {
  const setup = await setUp();
  const { sessions, messages } = COUNTED;
  const nodes = await startNodes(setup, { count: 1, server, sessions, countsRoundTrips: true });
  try {
    await waitForSeats(nodes);
    const count = (): number => nodes.proxy?.roundTrips ?? Number.NaN;
    const surface = spreadOver(setup, nodes);
    await exchange(surface, sessions, 0, WARM);
    const before = count();
    await exchange(surface, sessions, WARM, WARM + messages);
    const aMessage = (count() - before) / (sessions * messages);
    const idleFrom = count();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    return { aMessage, idle: (count() - idleFrom) / 10 };
  } finally {
    await nodes.stop();
    await setup.stop();
  }
}

/** Sends each message to the next node, as a load balancer does. */
function spreadOver({ feishu, verificationToken }: Setup, { nodes }: BenchNodes): FeishuSurface {
  let sent = 0;
  const balancer = {
    get url() {
      sent += 1;
      return nodes[sent % nodes.length]?.url ?? "";
    },
  };
  return new FeishuSurface(balancer, feishu, verificationToken);
}

async function exchange(surface: FeishuSurface, sessions: number, from: number, to: number): Promise<void> {
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      const peer = peerOf(session);
      for (let index = from; index < to; index += 1) await surface.exchange(peer, `${peer}-${index}`);
    }),
  );
}

async function readCosts({ nodes, database }: BenchNodes, server: DatabaseServer | undefined) {
  const [{ wal = "0" } = {}] =
    (await database?.query<{ wal: string }>("SELECT pg_current_wal_lsn() - '0/0' AS wal")) ?? [];
  return {
    gatewayMs: nodes.reduce((sum, node) => sum + node.cpuMs(), 0),
    databaseMs: server === undefined ? 0 : cpuOfTree(server.pid()),
    walBytes: Number(wal),
  };
}

/** Returns the CPU time of a process and its children, including those that have ended. */
function cpuOfTree(pid: number): number {
  const processes = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readTimes(name) : []));
  return processes
    .filter((each) => each.pid === pid || each.parent === pid)
    .reduce((sum, each) => sum + each.own + (each.pid === pid ? each.ofEnded : 0), 0);
}

function readTimes(name: string) {
  try {
    const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    const ticks = (index: number): number => Number(fields[index]) * TICK_MS;
    return [
      {
        pid: Number(name),
        parent: Number(fields[1]),
        own: ticks(11) + ticks(12),
        ofEnded: ticks(13) + ticks(14),
      },
    ];
  } catch {
    // It has ended.
    return [];
  }
}
