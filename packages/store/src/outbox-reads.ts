import { and, asc, desc, eq, gt, inArray, or, type SQL, sql } from "drizzle-orm";
import type { Answers } from "./answers.ts";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { rowOrEnd } from "./ids.ts";
import type { OutboxRows } from "./outbox-rows.ts";
import { isGivenUp, outbox } from "./schema/index.ts";
import type { Bodies, JsonValue } from "./types/common.ts";
import type { OutboxStore } from "./types/outbox.ts";

const DEFAULT_LIMIT = 100;
/**
 * Number of latest rows to search for a platform's message id. There is no index on the id, because every send would
 * have to update it.
 */
const LOOKED_THROUGH = 2_000;

interface Parts<T extends Bodies> {
  readonly rows: OutboxRows<T>;
  readonly answers: Answers;
}

/** Creates the methods that read the outbox. */
export function createOutboxReads<T extends Bodies>(
  { database, queue }: Context,
  { rows, answers }: Parts<T>,
): Pick<
  OutboxStore<T>,
  "answers" | "awaiting" | "get" | "withKey" | "ofMessage" | "hasOpen" | "hasPartlySent" | "list"
> {
  const { db } = database;
  const latest = db.select().from(outbox).orderBy(desc(outbox.seq)).limit(LOOKED_THROUGH).as("latest");
  const naming = database.query((p: Bound<{ channel: string; account: string; messageId: string }>) =>
    db
      .select({ seq: latest.seq, receipts: latest.receipts })
      .from(latest)
      .where(
        and(
          eq(latest.channel, p("channel")),
          eq(latest.account, p("account")),
          sql`instr(${latest.receipts}, ${p("messageId")}) > 0`,
        ),
      )
      .orderBy(desc(latest.seq)),
  );
  const withContent = (row: { readonly seq: number } | undefined) => row && rows.full(row.seq);

  return {
    answers: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? [] : answers.of(record);
      }),

    awaiting: (id) =>
      queue.read(() => {
        const record = rows.byId(id);
        return record === undefined ? [] : answers.awaiting(record);
      }),

    get: (id) => queue.read(() => withContent(rows.byId(id))),

    withKey: (key) => queue.read(() => withContent(rows.byKey(key))),

    ofMessage: ({ channel, account, messageId }) =>
      queue.read(() => {
        // The id as it occurs in the JSON of a receipt.
        const quoted = JSON.stringify(messageId);
        const candidates = naming.all({ channel, account, messageId: quoted });
        return withContent(
          candidates.find(({ receipts }) => receipts?.some(({ receipt }) => isOfMessage(receipt, messageId))),
        );
      }),

    hasOpen: (destination) => queue.read(() => rows.hasUnsent(destination)),

    hasPartlySent: (destination) => queue.read(() => rows.hasPartlySent(destination)),

    list: ({ limit = DEFAULT_LIMIT, states, changedAfter } = {}) =>
      queue.read(() => {
        const wanted = states === undefined ? isGivenUp : inArray(outbox.state, [...states]);
        if (changedAfter === undefined) return rows.list(wanted, [desc(outbox.seq)], limit);
        const order = [asc(outbox.updatedAt), asc(outbox.seq)];
        return rows.list(and(wanted, isBehind(changedAfter)), order, limit);
      }),
  };
}

function isOfMessage(receipt: JsonValue, messageId: string): boolean {
  return typeof receipt === "object" && receipt !== null && Reflect.get(receipt, "messageId") === messageId;
}

/** Selects rows that changed after the given time, or at that time and after the row `id`. */
function isBehind({ at, id }: { readonly at: number; readonly id?: string }): SQL | undefined {
  return or(gt(outbox.updatedAt, at), and(eq(outbox.updatedAt, at), gt(outbox.seq, rowOrEnd(id))));
}
