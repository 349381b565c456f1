import { openPostgresStore } from "@signalbox/store-postgres";
import type { DatabaseServer, ProofDatabase } from "../../test/proofs/cluster/database.ts";
import { now, one, row, type Spread, spread } from "../report.ts";

const SESSIONS = 1_000_000;
/** Sessions that are inserted with one statement. */
const CHUNK = 50_000;
const FEW = 50;
const WARM = 500;
const UPDATES = 4_000;
const WORKERS = 8;
const LEASE_MS = 600_000;

const keyOf = (index: number): string => `agent:bench:feishu:main:direct:ou_${index}`;

/** The time for appending a message to a session: first with few sessions in the tables, then with a million. */
export async function measureManySessions(server: DatabaseServer): Promise<void> {
  const database = await server.create();
  const store = await openPostgresStore({ url: server.url(database.name), connections: WORKERS });
  try {
    const lease = await store.leases.acquire("bench", "bench", LEASE_MS);
    if (lease === undefined) throw new Error("the lease is held");
    const seed = { agentId: "bench", channel: "feishu", account: "main", kind: "direct" } as const;
    for (let index = 0; index < FEW; index += 1)
      await store.sessions.ensure({ ...seed, key: keyOf(index), peer: `ou_${index}` });
    const append = async (count: number, pick: () => number): Promise<Spread> => {
      const times: number[] = [];
      let left = count;
      const work = async (): Promise<void> => {
        while (left-- > 0) {
          const since = now();
          await store.sessions.append(keyOf(pick()), [{ role: "user", content: "hello there" }], lease);
          times.push(now() - since);
        }
      };
      await Promise.all(Array.from({ length: WORKERS }, work));
      return spread(times);
    };
    const ofFew = (): number => Math.floor(Math.random() * FEW);
    const ofAll = (): number => Math.floor(Math.random() * SESSIONS);
    await append(WARM, ofFew);
    const few = await append(UPDATES, ofFew);
    await fill(database);
    await append(WARM, ofAll);
    const many = await append(UPDATES, ofAll);
    const floor = { name: `with ${FEW} sessions`, value: few };
    row({ name: `message to one of ${SESSIONS.toLocaleString("en")} sessions, ms`, ours: many, floor });
    row({ name: "  ratio of the medians", ours: one(many.median / few.median), marks: [{ atMost: 1.5 }] });
    const [{ table = 0, indexes = 0 } = {}] = await database.query<{ table: number; indexes: number }>(
      `SELECT pg_table_size('session') / 1e6 AS table, pg_indexes_size('session') / 1e6 AS indexes`,
    );
    row({ name: "  table of sessions, MB", ours: one(Number(table)) });
    row({ name: "  its indexes, MB", ours: one(Number(indexes)) });
  } finally {
    await store.close();
    await database.close();
  }
}

/** Adds sessions with a message each, and lets the server collect its statistics, as autovacuum does. */
async function fill({ query }: ProofDatabase): Promise<void> {
  for (let from = FEW; from < SESSIONS; from += CHUNK) {
    const to = Math.min(SESSIONS, from + CHUNK) - 1;
    await query(
      `INSERT INTO session (key, agent_id, channel, account, peer, kind, created_at, updated_at, updated_minute,
          last_seq, message_count)
        SELECT $1 || n, 'bench', 'feishu', 'main', 'ou_' || n, 'direct', at, at, at / 60000, 1, 1
        FROM generate_series($2::int, $3::int) AS n, LATERAL (SELECT 1.79e12::bigint + n * 1000::bigint AS at) AS times`,
      [keyOf(0).slice(0, -1), from, to],
    );
    await query(
      `INSERT INTO message (session_key, seq, kind, generation, at, body)
        SELECT $1 || n, 1, 'message', 0, 1.79e12::bigint, '{"role":"user","content":"hello there"}'
        FROM generate_series($2::int, $3::int) AS n`,
      [keyOf(0).slice(0, -1), from, to],
    );
  }
  await query("VACUUM ANALYZE");
  await query("CHECKPOINT");
}
