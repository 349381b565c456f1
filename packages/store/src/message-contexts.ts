import { and, asc, eq, gte, inArray, ne } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import { decodeIntact, encode } from "./json.ts";
import { messageContext, session, toldHistory } from "./schema/index.ts";
import type { JsonValue } from "./types/common.ts";
import type { MessageContextStore } from "./types/contexts.ts";
import type { ToldEntry } from "./types/history.ts";

function prepareStatements(database: Database) {
  const { db } = database;
  const isOf = (p: Bound<{ sessionKey: string; seq: number }>) =>
    and(eq(messageContext.sessionKey, p("sessionKey")), eq(messageContext.seq, p("seq")));
  return {
    insert: database.insert(messageContext),
    remove: database.command((p: Bound<{ sessionKey: string; seq: number }>) =>
      db.delete(messageContext).where(isOf(p)),
    ),
    insertTold: database.insert(toldHistory),
    removeTold: database.command((p: Bound<{ sessionKey: string; seq: number }>) =>
      db
        .delete(toldHistory)
        .where(and(eq(toldHistory.sessionKey, p("sessionKey")), eq(toldHistory.seq, p("seq")))),
    ),
    toldFrom: database.query((p: Bound<{ sessionKey: string; from: number }>) =>
      db
        .select()
        .from(toldHistory)
        .where(and(eq(toldHistory.sessionKey, p("sessionKey")), gte(toldHistory.seq, p("from"))))
        .orderBy(asc(toldHistory.seq), asc(toldHistory.place)),
    ),
    from: database.query((p: Bound<{ sessionKey: string; from: number }>) =>
      db
        .select({
          seq: messageContext.seq,
          text: messageContext.text,
          recalled: messageContext.recalled,
          forOwner: messageContext.forOwner,
        })
        .from(messageContext)
        .where(and(eq(messageContext.sessionKey, p("sessionKey")), gte(messageContext.seq, p("from"))))
        .orderBy(asc(messageContext.seq)),
    ),
    forgetRecalled: database.command((p: Bound<{ agentId: string }>) =>
      db
        .update(messageContext)
        .set({ recalled: "" })
        .where(
          and(
            ne(messageContext.recalled, ""),
            inArray(
              messageContext.sessionKey,
              db
                .select({ key: session.key })
                .from(session)
                .where(eq(session.agentId, p("agentId"))),
            ),
          ),
        ),
    ),
  };
}

export function createMessageContextStore({ database, queue }: Context): MessageContextStore {
  const statements = prepareStatements(database);

  function toldOf(sessionKey: string, seq: number): ReadonlyMap<number, ToldEntry[]> {
    const told = new Map<number, ToldEntry[]>();
    for (const row of statements.toldFrom.all({ sessionKey, from: seq })) {
      const { conversation, entryId: id, senderId, at } = row;
      const body = decodeIntact<JsonValue>(row.body);
      if (body === undefined) continue;
      told.set(row.seq, [...(told.get(row.seq) ?? []), { conversation, id, senderId, body, at }]);
    }
    return told;
  }

  return {
    put: (sessionKey, contexts) =>
      queue.write(() => {
        for (const { told, ...context } of contexts) {
          const { seq } = context;
          statements.remove.run({ sessionKey, seq });
          statements.removeTold.run({ sessionKey, seq });
          statements.insert.run({ sessionKey, ...context });
          for (const [place, { id: entryId, body, ...entry }] of told.entries())
            statements.insertTold.run({
              sessionKey,
              seq,
              place,
              entryId,
              ...entry,
              body: encode(body, "A told entry"),
            });
        }
      }),
    from: (sessionKey, seq) =>
      queue.read(() => {
        const told = toldOf(sessionKey, seq);
        return statements.from
          .all({ sessionKey, from: seq })
          .map((context) => ({ ...context, told: told.get(context.seq) ?? [] }));
      }),
    forgetRecalled: (agentId) => queue.write(() => statements.forgetRecalled.run({ agentId }).changes),
  };
}
