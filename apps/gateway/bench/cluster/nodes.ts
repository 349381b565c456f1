import { freePort } from "@signalbox/testkit";
import type { DatabaseServer, ProofDatabase } from "../../test/proofs/cluster/database.ts";
import { type NetworkProxy, startProxy } from "../../test/proofs/cluster/proxy.ts";
import { type GatewayProcess, makeHome, removeHome, startProcess } from "../gateway-process.ts";
import { configFor, feishuAccount, type Setup } from "../setup.ts";

/** Number of agents: at least four for each node, so that the load can be spread. */
const AGENTS = 16;

/** Gateways for one measurement. */
export interface BenchNodes {
  readonly nodes: readonly GatewayProcess[];
  /** Absent on SQLite. */
  readonly database: ProofDatabase | undefined;
  /** Absent unless the round trips are counted. */
  readonly proxy: NetworkProxy | undefined;
  /** Starts a gateway again that was killed. */
  restart(index: number): Promise<GatewayProcess>;
  stop(): Promise<void>;
}

/** The agent of a session, by its number. */
export const peerOf = (session: number): string => `bench-${session}`;

export interface NodesOptions {
  readonly count: number;
  /** Absent: one gateway on SQLite. */
  readonly server?: DatabaseServer;
  readonly sessions: number;
  readonly countsRoundTrips?: boolean;
}

/** Starts gateways with separate homes, on one database if there is a server. */
export async function startNodes(
  setup: Setup,
  { count, server, sessions, countsRoundTrips = false }: NodesOptions,
): Promise<BenchNodes> {
  const database = await server?.create();
  const proxy = server !== undefined && countsRoundTrips ? await startProxy(server.port()) : undefined;
  const ports: number[] = [];
  const homes: string[] = [];
  const agents = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`);
  for (let index = 0; index < count; index += 1) {
    const port = await freePort();
    ports.push(port);
    homes.push(
      makeHome(
        configFor(
          { port, model: setup.model },
          { feishu: feishuAccount(setup) },
          {
            gateway: { port, logLevel: "warn", node: `node-${index + 1}` },
            agents: { list: agents.map((id) => ({ id, model: "anthropic/claude-sonnet-4-6" })) },
            bindings: Array.from({ length: sessions }, (_, session) => ({
              agent: agents[session % AGENTS],
              match: { channel: "feishu", peer: { kind: "direct", id: `ou_${peerOf(session)}` } },
            })),
            ...(server === undefined || database === undefined
              ? {}
              : {
                  store: {
                    url: `postgres://signalbox@127.0.0.1:${proxy?.port ?? server.port()}/${database.name}`,
                  },
                }),
          },
        ),
      ),
    );
  }
  const nodes = await Promise.all(homes.map((home, index) => startProcess(home, ports[index] ?? 0)));
  return {
    nodes,
    database,
    proxy,
    async restart(index) {
      const started = await startProcess(homes[index] ?? "", ports[index] ?? 0);
      nodes[index] = started;
      return started;
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      await proxy?.close();
      await database?.close();
      for (const home of homes) removeHome(home);
    },
  };
}

/** Waits until every node has its share of the agents. */
export async function waitForSeats({ database, nodes }: BenchNodes): Promise<void> {
  if (database === undefined) return;
  const least = Math.floor(AGENTS / nodes.length);
  for (;;) {
    const rows = await database.query<{ seats: number }>(
      `SELECT count(*)::int AS seats FROM lease WHERE name LIKE 'seat %' AND expires_at > 0 GROUP BY holder`,
    );
    if (rows.length === nodes.length && rows.every(({ seats }) => seats >= least)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
