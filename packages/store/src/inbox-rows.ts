import type { Database } from "./database.ts";
import { rowOf } from "./ids.ts";
import { decode } from "./json.ts";
import type { InboxEventRecord, InboxRecord } from "./records.ts";
import type { Bodies, InboxId } from "./types/common.ts";
import type { InboxDetail, InboxFinalState, InboxRow, InboxState } from "./types/inbox.ts";

type Joined = InboxRecord & InboxEventRecord;
type Listing = { state?: InboxState; sessionKey?: string; before?: InboxId; limit?: number };

/** Reads of the inbox that several parts need. */
export interface InboxReader<T extends Bodies> {
  record(seq: number): InboxRecord | undefined;
  byId(id: string): InboxRecord | undefined;
  full(row: InboxRecord | undefined): InboxRow<T> | undefined;
  queued(sessionKey: string): InboxRow<T>[];
  unrouted(): InboxRow<T>[];
  pendingSessions(): { sessionKey: string; queued: number; since: number }[];
  search(messageId: string, channel?: string, account?: string): InboxRow<T> | undefined;
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

export function createInboxReader<T extends Bodies>(database: Database): InboxReader<T> {
  const joined = "SELECT * FROM inbox JOIN inbox_event USING (seq)";
  const bySeq = database.query<[number], InboxRecord>("SELECT * FROM inbox WHERE seq = ?");
  const eventBySeq = database.query<[number], InboxEventRecord>("SELECT * FROM inbox_event WHERE seq = ?");
  const queued = database.query<[string], Joined>(
    `${joined} WHERE settled_at IS NULL AND session_key = ? AND state = 'queued' ORDER BY seq`,
  );
  const unrouted = database.query<[], Joined>(
    `${joined} WHERE settled_at IS NULL AND session_key IS NULL ORDER BY seq`,
  );
  const pending = database.query<[], { sessionKey: string; queued: number; since: number }>(
    `SELECT session_key AS sessionKey, count(*) AS queued, min(received_at) AS since FROM inbox
     WHERE settled_at IS NULL AND session_key IS NOT NULL AND state = 'queued' GROUP BY session_key ORDER BY min(seq)`,
  );
  const byMessageId = database.query<[string, string | null, string | null], Joined>(
    `${joined} WHERE message_id = ?1 AND (?2 IS NULL OR channel = ?2) AND (?3 IS NULL OR account = ?3)
     ORDER BY seq DESC LIMIT 1`,
  );
  const list = database.query<[string | null, string | null, number, number], Joined>(
    `${joined} WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR session_key = ?2) AND seq < ?3
     ORDER BY seq DESC LIMIT ?4`,
  );

  function toRow(row: Joined): InboxRow<T> {
    const detail = toDetail(row);
    return {
      id: row.id,
      seq: row.seq,
      channel: row.channel,
      account: row.account,
      eventId: row.event_id,
      ...(row.message_id === null ? {} : { messageId: row.message_id }),
      kind: row.kind,
      conversationId: row.conversation_id,
      senderId: row.sender_id,
      payload: decode<T["inbound"]>(row.payload),
      receivedAt: row.received_at,
      state: row.state,
      ...(detail === undefined ? {} : { detail }),
      ...(row.session_key === null || row.agent_id === null
        ? {}
        : { route: { agentId: row.agent_id, sessionKey: row.session_key } }),
      ...(row.run_id === null ? {} : { runId: row.run_id }),
      revision: row.revision,
      ...(row.settled_at === null ? {} : { settledAt: row.settled_at }),
    };
  }

  return {
    record: (seq) => bySeq.get(seq),
    byId(id) {
      const seq = rowOf(id);
      const row = seq === undefined ? undefined : bySeq.get(seq);
      return row?.id === id ? row : undefined;
    },
    full(row) {
      const event = row === undefined ? undefined : eventBySeq.get(row.seq);
      return row === undefined || event === undefined ? undefined : toRow({ ...row, ...event });
    },
    queued: (sessionKey) => queued.all(sessionKey).map(toRow),
    unrouted: () => unrouted.all().map(toRow),
    pendingSessions: () => pending.all(),
    search(messageId, channel, account) {
      const row = byMessageId.get(messageId, channel ?? null, account ?? null);
      return row === undefined ? undefined : toRow(row);
    },
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
