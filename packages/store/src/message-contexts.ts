import { and, asc, eq, gte, inArray, ne } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { messageContext, session } from "./schema/index.ts";
import type { MessageContextStore } from "./types/side.ts";

export function createMessageContextStore({ database, queue }: Context): MessageContextStore {
  const { db } = database;
  const insert = database.insert(messageContext);
  const isOf = (p: Bound<{ sessionKey: string; seq: number }>) =>
    and(eq(messageContext.sessionKey, p.sessionKey), eq(messageContext.seq, p.seq));
  const remove = database.command((p: Bound<{ sessionKey: string; seq: number }>) =>
    db.delete(messageContext).where(isOf(p)),
  );
  const from = database.query((p: Bound<{ sessionKey: string; from: number }>) =>
    db
      .select({
        seq: messageContext.seq,
        text: messageContext.text,
        recalled: messageContext.recalled,
        forOwner: messageContext.forOwner,
      })
      .from(messageContext)
      .where(and(eq(messageContext.sessionKey, p.sessionKey), gte(messageContext.seq, p.from)))
      .orderBy(asc(messageContext.seq)),
  );
  const forgetRecalled = database.command((p: Bound<{ agentId: string }>) =>
    db
      .update(messageContext)
      .set({ recalled: "" })
      .where(
        and(
          ne(messageContext.recalled, ""),
          inArray(
            messageContext.sessionKey,
            db.select({ key: session.key }).from(session).where(eq(session.agentId, p.agentId)),
          ),
        ),
      ),
  );

  return {
    put: (sessionKey, contexts) =>
      queue.write(() => {
        for (const context of contexts) {
          remove.run({ sessionKey, seq: context.seq });
          insert.run({ sessionKey, ...context });
        }
      }),
    from: (sessionKey, seq) => queue.read(() => from.all({ sessionKey, from: seq })),
    forgetRecalled: (agentId) => queue.write(() => forgetRecalled.run({ agentId }).changes),
  };
}
