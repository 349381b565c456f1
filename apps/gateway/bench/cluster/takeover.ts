import { getNodeId, locateHome } from "@signalbox/home";
import type { DatabaseServer } from "../../test/proofs/cluster/database.ts";
import { readHolding, waitForTakeover } from "../../test/proofs/cluster/leases.ts";
import { row, spread } from "../report.ts";
import { setUp } from "../setup.ts";
import { startNodes, waitForSeats } from "./nodes.ts";

const NODES = 3;
const ROUNDS = 7;
const LIMIT_MS = 60_000;

/** Time from `kill -9` of one of three nodes until the others have taken its agents and accounts. */
export async function measureTakeover(server: DatabaseServer): Promise<void> {
  const setup = await setUp();
  const nodes = await startNodes(setup, { count: NODES, server, sessions: 0 });
  const { database } = nodes;
  if (database === undefined) throw new TypeError("there is no database");
  const times: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      await waitForSeats(nodes);
      const index = round % NODES;
      const victim = nodes.nodes[index];
      if (victim === undefined) throw new TypeError("there is no node");
      const holding = await readHolding(database, getNodeId(locateHome(victim.home, {})));
      const since = performance.now();
      await victim.kill();
      const taken = await waitForTakeover(database, holding, { since, limitMs: LIMIT_MS });
      if (!("ms" in taken)) throw new Error(`nobody took ${taken.left.join(", ")}`);
      times.push(taken.ms);
      await nodes.restart(index);
    }
  } finally {
    await nodes.stop();
    await setup.stop();
  }
  row({
    name: "kill -9 of a node until others have its agents, ms",
    ours: spread(times),
    marks: [{ atMost: 5_000 }, { atMost: 8_000, of: "p99" }],
  });
}
