import { asc, eq, lt, or } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { accessToken, webSession } from "./schema/index.ts";
import type { AccessStore, AccessToken } from "./types/access.ts";

function tokenOf({ usedAt, ...row }: typeof accessToken.$inferSelect): AccessToken {
  return { ...row, ...(usedAt === null ? {} : { usedAt }) };
}

/** Tokens of clients and sessions of browsers. */
export function createAccessStore({ database, queue }: Context): AccessStore {
  const { db } = database;
  const byHash = database.query((p: Bound<{ hash: string }>) =>
    db.select().from(accessToken).where(eq(accessToken.hash, p.hash)),
  );
  const byName = database.query((p: Bound<{ name: string }>) =>
    db.select().from(accessToken).where(eq(accessToken.name, p.name)),
  );
  const all = database.query(() => db.select().from(accessToken).orderBy(asc(accessToken.name)));
  const insertToken = database.insert(accessToken);
  const noteToken = database.command((p: Bound<{ hash: string; at: number }>) =>
    db.update(accessToken).set({ usedAt: p.at }).where(eq(accessToken.hash, p.hash)),
  );
  const removeToken = database.command((p: Bound<{ hash: string }>) =>
    db.delete(accessToken).where(eq(accessToken.hash, p.hash)),
  );
  const sessionById = database.query((p: Bound<{ id: string }>) =>
    db.select().from(webSession).where(eq(webSession.id, p.id)),
  );
  const insertSession = database.insert(webSession);
  const noteSession = database.command((p: Bound<{ id: string; at: number }>) =>
    db.update(webSession).set({ usedAt: p.at }).where(eq(webSession.id, p.id)),
  );
  const removeSession = database.command((p: Bound<{ id: string }>) =>
    db.delete(webSession).where(eq(webSession.id, p.id)),
  );
  const removeSessionsOf = database.command((p: Bound<{ hash: string }>) =>
    db.delete(webSession).where(eq(webSession.tokenHash, p.hash)),
  );
  const forgetSessions = database.command((p: Bound<{ usedBefore: number; openedBefore: number }>) =>
    db
      .delete(webSession)
      .where(or(lt(webSession.usedAt, p.usedBefore), lt(webSession.createdAt, p.openedBefore))),
  );

  return {
    tokens: {
      add: (token) =>
        queue.write(() => {
          if (byName.get({ name: token.name }) !== undefined) return false;
          insertToken.run(token);
          return true;
        }),
      find: (hash) =>
        queue.read(() => {
          const row = byHash.get({ hash });
          return row && tokenOf(row);
        }),
      named: (name) =>
        queue.read(() => {
          const row = byName.get({ name });
          return row && tokenOf(row);
        }),
      used: (hash, at) => queue.write(() => void noteToken.run({ hash, at })),
      list: () => queue.read(() => all.all().map(tokenOf)),
      revoke: (name) =>
        queue.write(() => {
          const token = byName.get({ name });
          if (token === undefined) return false;
          removeSessionsOf.run({ hash: token.hash });
          removeToken.run({ hash: token.hash });
          return true;
        }),
    },
    sessions: {
      open: (session) => queue.write(() => void insertSession.run({ ...session })),
      find: (id) => queue.read(() => sessionById.get({ id })),
      used: (id, at) => queue.write(() => void noteSession.run({ id, at })),
      end: (id) => queue.write(() => void removeSession.run({ id })),
      forget: (usedBefore, openedBefore) =>
        queue.write(() => void forgetSessions.run({ usedBefore, openedBefore })),
    },
  };
}
