import { decodeIntact, encode } from "@signalbox/store/backend";
import type { JsonValue, MessageContext, MessageContextStore, ToldEntry } from "@signalbox/store/types";
import { and, asc, eq, gte, inArray, ne } from "drizzle-orm";
import type { Context } from "./context.ts";
import { messageContext, session, toldHistory } from "./schema/index.ts";

function toRows(sessionKey: string, contexts: readonly MessageContext[]) {
  return contexts.flatMap(({ seq, told }) =>
    told.map(({ id: entryId, body, ...entry }, place) => ({
      sessionKey,
      seq,
      place,
      entryId,
      ...entry,
      body: encode(body, "A told entry"),
    })),
  );
}

export function createMessageContextStore({ database }: Context): MessageContextStore {
  return {
    async put(sessionKey, contexts) {
      if (contexts.length === 0) return;
      const told = toRows(sessionKey, contexts);
      const rows = contexts.map(({ told: _, ...context }) => ({ sessionKey, ...context }));
      const seqs = rows.map(({ seq }) => seq);
      return database.write(async ({ db, send }) => {
        for (const table of [messageContext, toldHistory])
          send(db.delete(table).where(and(eq(table.sessionKey, sessionKey), inArray(table.seq, seqs))));
        send(db.insert(messageContext).values(rows));
        if (told.length > 0) send(db.insert(toldHistory).values(told));
      }, `contexts ${sessionKey}`);
    },

    from: (sessionKey, seq) =>
      database.read(async ({ db }) => {
        const [contexts, rows] = await Promise.all([
          db
            .select({
              seq: messageContext.seq,
              text: messageContext.text,
              recalled: messageContext.recalled,
              forOwner: messageContext.forOwner,
            })
            .from(messageContext)
            .where(and(eq(messageContext.sessionKey, sessionKey), gte(messageContext.seq, seq)))
            .orderBy(asc(messageContext.seq)),
          db
            .select()
            .from(toldHistory)
            .where(and(eq(toldHistory.sessionKey, sessionKey), gte(toldHistory.seq, seq)))
            .orderBy(asc(toldHistory.seq), asc(toldHistory.place)),
        ]);
        const told = Map.groupBy(rows, (row) => row.seq);
        return contexts.map((context) => ({
          ...context,
          told: (told.get(context.seq) ?? []).flatMap(toEntry),
        }));
      }),

    forgetRecalled: (agentId) =>
      database.write(({ db, change }) => {
        const sessions = db.select({ key: session.key }).from(session).where(eq(session.agentId, agentId));
        return change(
          db
            .update(messageContext)
            .set({ recalled: "" })
            .where(and(ne(messageContext.recalled, ""), inArray(messageContext.sessionKey, sessions))),
        );
      }),
  };
}

function toEntry(row: typeof toldHistory.$inferSelect): ToldEntry[] {
  const { conversation, entryId: id, senderId, at } = row;
  const body = decodeIntact<JsonValue>(row.body);
  return body === undefined ? [] : [{ conversation, id, senderId, body, at }];
}
