import { rowOf, rowOrEnd } from "@signalbox/store/backend";
import type { Bodies, JsonValue, OutboxStore } from "@signalbox/store/types";
import { and, asc, desc, eq, gt, inArray, or, type SQL, sql } from "drizzle-orm";
import { readAnswered, readAwaiting } from "./answers.ts";
import type { Context } from "./context.ts";
import { findOutboxRow, isUnsentTo, selectOutbox, toOutboxRows } from "./outbox-rows.ts";
import { isGivenUp, outbox } from "./schema/index.ts";

const DEFAULT_LIMIT = 100;
/** Number of latest rows to search for a platform's message id. There is no index on the id. */
const LOOKED_THROUGH = 2_000;

/** Creates the methods that read the outbox. */
export function createOutboxReads<T extends Bodies>({
  database,
}: Context): Pick<
  OutboxStore<T>,
  "answers" | "awaiting" | "get" | "withKey" | "ofMessage" | "hasOpen" | "hasPartlySent" | "list"
> {
  const hasAny = (where: SQL | undefined) =>
    database.query(
      async (db) => (await db.select({ seq: outbox.seq }).from(outbox).where(where).limit(1)).length > 0,
    );

  return {
    answers: (id) =>
      database.read(async (tx) => {
        const record = await findOutboxRow(tx, id);
        return record === undefined ? [] : readAnswered(tx, record);
      }),

    awaiting: (id) =>
      database.read(async (tx) => {
        const record = await findOutboxRow(tx, id);
        return record === undefined ? [] : readAwaiting(tx, record);
      }),

    get: (id) =>
      database.query(async (db) => {
        const rows = await selectOutbox(db).where(eq(outbox.seq, rowOf(id) ?? 0));
        return rows.flatMap(toOutboxRows<T>).find((row) => row.id === id);
      }),

    withKey: (key) =>
      database.query(async (db) => {
        const rows = await selectOutbox(db).where(and(eq(outbox.key, key), outbox.keyed));
        return rows.flatMap(toOutboxRows<T>)[0];
      }),

    ofMessage: ({ channel, account, messageId }) =>
      database.query(async (db) => {
        const latest = db
          .select({ seq: outbox.seq })
          .from(outbox)
          .orderBy(desc(outbox.seq))
          .limit(LOOKED_THROUGH);
        // The id as it occurs in the JSON of a receipt.
        const isNamed = sql`strpos(${outbox.receipts}::text, ${JSON.stringify(messageId)}) > 0`;
        const rows = await selectOutbox(db)
          .where(
            and(
              inArray(outbox.seq, latest),
              eq(outbox.channel, channel),
              eq(outbox.account, account),
              isNamed,
            ),
          )
          .orderBy(desc(outbox.seq));
        return rows
          .flatMap(toOutboxRows<T>)
          .find(({ receipts }) => receipts.some(({ receipt }) => isOfMessage(receipt, messageId)));
      }),

    hasOpen: (destination) => hasAny(isUnsentTo(destination)),

    hasPartlySent: (destination) => {
      const hasReceipts = sql`json_array_length(${outbox.receipts}) > 0`;
      return hasAny(and(isUnsentTo(destination), or(eq(outbox.state, "sending"), hasReceipts)));
    },

    list: ({ limit = DEFAULT_LIMIT, states, changedAfter } = {}) =>
      database.query(async (db) => {
        const wanted = states === undefined ? isGivenUp : inArray(outbox.state, [...states]);
        const isListed = changedAfter === undefined ? wanted : and(wanted, isBehind(changedAfter));
        const order =
          changedAfter === undefined ? [desc(outbox.seq)] : [asc(outbox.updatedAt), asc(outbox.seq)];
        const rows = await selectOutbox(db)
          .where(isListed)
          .orderBy(...order)
          .limit(limit);
        return rows.flatMap(toOutboxRows<T>);
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
