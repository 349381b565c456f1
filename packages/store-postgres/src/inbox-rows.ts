import { decodeIntact, idOf, rowOf, rowOrEnd } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type {
  Bodies,
  InboxDetail,
  InboxFinalState,
  InboxId,
  InboxRow,
  InboxState,
} from "@signalbox/store/types";
import { and, eq, inArray, isNull, lt, type SQL } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { runIdOf } from "./run-rows.ts";
import { type InboxRecord, inbox, type RunRecord, run } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** A row with its run. */
interface Joined {
  readonly row: InboxRecord;
  readonly run: Pick<RunRecord, "n" | "nonce" | "startedAt"> | null;
}

/** Conditions for a list of messages. */
interface InboxFilter {
  readonly state?: InboxState;
  readonly sessionKey?: string;
  readonly before?: InboxId;
}

export function inboxIdOf({
  receivedAt,
  nonce,
  seq,
}: Pick<InboxRecord, "receivedAt" | "nonce" | "seq">): InboxId {
  return idOf<InboxId>(receivedAt, nonce, seq);
}

export function isFinal(state: InboxState): state is InboxFinalState {
  return state !== "accepted" && state !== "queued" && state !== "running";
}

/** A condition: the message has no run and has not ended. */
export function isWaiting(): SQL | undefined {
  return and(isNull(inbox.settledAt), inArray(inbox.state, ["accepted", "queued"]));
}

function toDetail({ rule, reason }: InboxRecord): InboxDetail | undefined {
  if (rule === null && reason === null) return undefined;
  return { rule: rule ?? undefined, reason: reason ?? undefined };
}

/** Parses a row. Omits a row with damaged JSON. */
export function toInboxRows<T extends Bodies>({ row, run: answering }: Joined): InboxRow<T>[] {
  const payload = decodeIntact<T["inbound"]>(row.payload);
  if (payload === undefined) return [];
  const detail = toDetail(row);
  return [
    {
      id: inboxIdOf(row),
      seq: row.seq,
      channel: row.channel,
      account: row.account,
      eventId: row.eventId,
      messageId: row.messageId ?? undefined,
      kind: row.kind,
      conversationId: row.conversationId,
      senderId: row.senderId,
      payload,
      receivedAt: row.receivedAt,
      state: row.state,
      detail,
      route:
        row.sessionKey === null || row.agentId === null
          ? undefined
          : { agentId: row.agentId, sessionKey: row.sessionKey },
      runId: answering === null ? undefined : runIdOf(answering),
      revision: row.revision,
      settledAt: row.settledAt ?? undefined,
    },
  ];
}

/** Selects messages with their runs. */
export const selectInbox = (db: NodePgDatabase) =>
  db
    .select({ row: inbox, run: { n: run.n, startedAt: run.startedAt, nonce: run.nonce } })
    .from(inbox)
    .leftJoin(run, eq(run.n, inbox.run))
    .$dynamic();

/** Locks a message until the end of the transaction and returns it. */
export async function lockMessage({ db }: Transaction, id: string): Promise<InboxRecord | undefined> {
  const rows = await db
    .select()
    .from(inbox)
    .where(eq(inbox.seq, rowOf(id) ?? 0))
    .for("update");
  return rows.find((row) => inboxIdOf(row) === id);
}

/** @throws StoreError `not_found` */
export async function mustLockMessage(tx: Transaction, id: InboxId): Promise<InboxRecord> {
  const row = await lockMessage(tx, id);
  if (row === undefined) throw new StoreError("not_found", `There is no inbox message ${id}.`);
  return row;
}

/** Changes a message that is locked. */
export function updateMessage({ db, send }: Transaction, seq: number, changes: Partial<InboxRecord>): void {
  send(db.update(inbox).set(changes).where(eq(inbox.seq, seq)));
}

export function meetsFilter({ state, sessionKey, before }: InboxFilter): SQL | undefined {
  const isOpen = state !== undefined && !isFinal(state);
  return and(
    lt(inbox.seq, rowOrEnd(before)),
    state === undefined ? undefined : eq(inbox.state, state),
    isOpen ? isNull(inbox.settledAt) : undefined,
    sessionKey === undefined ? undefined : eq(inbox.sessionKey, sessionKey),
  );
}
