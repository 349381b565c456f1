import type { Context } from "./context.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { rowOf } from "./ids.ts";
import { decode } from "./json.ts";
import type { InboxRecord } from "./records.ts";
import type { Bodies, InboxId, RunId } from "./types/common.ts";
import type { InboxDetail, InboxFinalState, InboxRow, InboxState } from "./types/inbox.ts";

/** What stands in the entry of an inbound event. */
export interface InboundBody<T extends Bodies = Bodies> {
  readonly channel: string;
  readonly account: string;
  readonly eventId: string;
  readonly messageId?: string;
  readonly kind: string;
  readonly conversationId: string;
  readonly senderId: string;
  readonly payload: T["inbound"];
}

type Listing = { state?: InboxState; sessionKey?: string; before?: InboxId; limit?: number };

/** Reads of the inbox that several parts need. */
export interface InboxReader<T extends Bodies> {
  record(seq: number): InboxRecord | undefined;
  /** What came in. */
  event(row: InboxRecord): InboundBody<T>;
  byId(id: string): InboxRecord | undefined;
  full(row: InboxRecord | undefined): InboxRow<T> | undefined;
  queued(sessionKey: string): InboxRow<T>[];
  unrouted(): InboxRow<T>[];
  pendingSessions(): { sessionKey: string; queued: number; since: number }[];
  list(filter: Listing): InboxRow<T>[];
}

export function isFinal(state: InboxState): state is InboxFinalState {
  return state !== "accepted" && state !== "queued" && state !== "running";
}

function toDetail(row: InboxRecord): InboxDetail | undefined {
  if (row.rule === null && row.reason === null) return undefined;
  return {
    ...(row.rule === null ? {} : { rule: row.rule }),
    ...(row.reason === null ? {} : { reason: row.reason }),
  };
}

export function createInboxReader<T extends Bodies>({ database }: Context, entries: Entries): InboxReader<T> {
  const bySeq = database.query<[number], InboxRecord>("SELECT * FROM inbox WHERE seq = ?");
  const runId = database.query<[number], { id: RunId }>("SELECT id FROM run WHERE n = ?");
  const queued = database.query<[string], InboxRecord>(
    "SELECT * FROM inbox WHERE settled_at IS NULL AND session_key = ? AND state = 'queued' ORDER BY seq",
  );
  const unrouted = database.query<[], InboxRecord>(
    "SELECT * FROM inbox WHERE settled_at IS NULL AND session_key IS NULL ORDER BY seq",
  );
  const pending = database.query<[], { sessionKey: string; queued: number; since: number }>(
    `SELECT session_key AS sessionKey, count(*) AS queued, min(received_at) AS since FROM inbox
     WHERE settled_at IS NULL AND session_key IS NOT NULL AND state = 'queued' GROUP BY session_key ORDER BY min(seq)`,
  );
  const list = database.query<[string | null, string | null, number, number], InboxRecord>(
    `SELECT * FROM inbox WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR session_key = ?2) AND seq < ?3
     ORDER BY seq DESC LIMIT ?4`,
  );

  function event(row: InboxRecord): InboundBody<T> {
    const entry = entries.get(row.entry);
    if (entry === undefined)
      throw new StoreError("corrupt", `The body of inbox message ${row.id} is missing.`);
    return decode<InboundBody<T>>(entry.body);
  }

  function toRow(row: InboxRecord): InboxRow<T> {
    const detail = toDetail(row);
    const run = row.run === null ? undefined : runId.get(row.run)?.id;
    return {
      id: row.id,
      seq: row.seq,
      ...event(row),
      receivedAt: row.received_at,
      state: row.state,
      ...(detail === undefined ? {} : { detail }),
      ...(row.session_key === null || row.agent_id === null
        ? {}
        : { route: { agentId: row.agent_id, sessionKey: row.session_key } }),
      ...(run === undefined ? {} : { runId: run }),
      revision: row.revision,
      ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
    };
  }

  return {
    record: (seq) => bySeq.get(seq),
    event,
    byId(id) {
      const seq = rowOf(id);
      const row = seq === undefined ? undefined : bySeq.get(seq);
      return row?.id === id ? row : undefined;
    },
    full: (row) => (row === undefined ? undefined : toRow(row)),
    queued: (sessionKey) => queued.all(sessionKey).map(toRow),
    unrouted: () => unrouted.all().map(toRow),
    pendingSessions: () => pending.all(),
    list(filter) {
      const before = filter.before === undefined ? undefined : rowOf(filter.before);
      return list
        .all(
          filter.state ?? null,
          filter.sessionKey ?? null,
          before ?? Number.MAX_SAFE_INTEGER,
          filter.limit ?? 50,
        )
        .map(toRow);
    },
  };
}
