import { asc, desc, eq, lt, or } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import { accessToken, webSession } from "./schema/index.ts";
import type { AccessStore, AccessToken } from "./types/access.ts";

function tokenOf({ usedAt, ...row }: typeof accessToken.$inferSelect): AccessToken {
  return { ...row, ...(usedAt === null ? {} : { usedAt }) };
}

/** Stores client tokens and browser sessions. */
export function createAccessStore(context: Context): AccessStore {
  return { tokens: createTokens(context), sessions: createWebSessions(context) };
}

function createTokens({ database, queue }: Context): AccessStore["tokens"] {
  const { db } = database;
  const byHash = database.query((p: Bound<{ hash: string }>) =>
    db
      .select()
      .from(accessToken)
      .where(eq(accessToken.hash, p("hash"))),
  );
  const byName = database.query((p: Bound<{ name: string }>) =>
    db
      .select()
      .from(accessToken)
      .where(eq(accessToken.name, p("name"))),
  );
  const all = database.query(() => db.select().from(accessToken).orderBy(asc(accessToken.name)));
  const insert = database.insert(accessToken);
  const note = database.command((p: Bound<{ hash: string; at: number }>) =>
    db
      .update(accessToken)
      .set({ usedAt: p("at") })
      .where(eq(accessToken.hash, p("hash"))),
  );
  const change = database.command((p: Bound<{ hash: string; role: AccessToken["role"] }>) =>
    db
      .update(accessToken)
      .set({ role: p("role") })
      .where(eq(accessToken.hash, p("hash"))),
  );
  const remove = database.command((p: Bound<{ hash: string }>) =>
    db.delete(accessToken).where(eq(accessToken.hash, p("hash"))),
  );
  const removeSessionsOf = database.command((p: Bound<{ hash: string }>) =>
    db.delete(webSession).where(eq(webSession.tokenHash, p("hash"))),
  );

  return {
    add: (token) =>
      queue.write(() => {
        if (byName.get({ name: token.name }) !== undefined) return false;
        insert.run(token);
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
    used: (hash, at) => queue.write(() => void note.run({ hash, at })),
    setRole: (hash, role) => queue.write(() => void change.run({ hash, role })),
    list: () => queue.read(() => all.all().map(tokenOf)),
    revoke: (name) =>
      queue.write(() => {
        const token = byName.get({ name });
        if (token === undefined) return false;
        removeSessionsOf.run({ hash: token.hash });
        remove.run({ hash: token.hash });
        return true;
      }),
  };
}

function createWebSessions({ database, queue }: Context): AccessStore["sessions"] {
  const { db } = database;
  const byId = database.query((p: Bound<{ id: string }>) =>
    db
      .select()
      .from(webSession)
      .where(eq(webSession.id, p("id"))),
  );
  const all = database.query(() => db.select().from(webSession).orderBy(desc(webSession.usedAt)));
  const insert = database.insert(webSession);
  const note = database.command((p: Bound<{ id: string; at: number }>) =>
    db
      .update(webSession)
      .set({ usedAt: p("at") })
      .where(eq(webSession.id, p("id"))),
  );
  const remove = database.command((p: Bound<{ id: string }>) =>
    db.delete(webSession).where(eq(webSession.id, p("id"))),
  );
  const forget = database.command((p: Bound<{ usedBefore: number; openedBefore: number }>) =>
    db
      .delete(webSession)
      .where(or(lt(webSession.usedAt, p("usedBefore")), lt(webSession.createdAt, p("openedBefore")))),
  );

  return {
    open: (session) => queue.write(() => void insert.run({ ...session })),
    find: (id) => queue.read(() => byId.get({ id })),
    list: () => queue.read(() => all.all()),
    used: (id, at) => queue.write(() => void note.run({ id, at })),
    end: (id) => queue.write(() => void remove.run({ id })),
    forget: (usedBefore, openedBefore) => queue.write(() => void forget.run({ usedBefore, openedBefore })),
  };
}
