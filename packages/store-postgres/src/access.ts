import type { AccessStore, AccessToken } from "@signalbox/store/types";
import { asc, desc, eq, lt, or } from "drizzle-orm";
import type { Context } from "./context.ts";
import { accessToken, webSession } from "./schema/index.ts";

function tokenOf({ usedAt, ...row }: typeof accessToken.$inferSelect): AccessToken {
  return { ...row, ...(usedAt === null ? {} : { usedAt }) };
}

/** Stores client tokens and browser sessions. */
export function createAccessStore(context: Context): AccessStore {
  return { tokens: createTokens(context), sessions: createWebSessions(context) };
}

function createTokens({ database }: Context): AccessStore["tokens"] {
  return {
    add: (token) =>
      database.write(async ({ db }) => {
        const added = await db.insert(accessToken).values(token).onConflictDoNothing().returning();
        return added.length > 0;
      }),
    find: (hash) =>
      database.query(async (db) => {
        const [row] = await db.select().from(accessToken).where(eq(accessToken.hash, hash));
        return row && tokenOf(row);
      }),
    named: (name) =>
      database.query(async (db) => {
        const [row] = await db.select().from(accessToken).where(eq(accessToken.name, name));
        return row && tokenOf(row);
      }),
    used: (hash, at) =>
      database.write(async ({ db, send }) =>
        send(db.update(accessToken).set({ usedAt: at }).where(eq(accessToken.hash, hash))),
      ),
    setRole: (hash, role) =>
      database.write(async ({ db, send }) =>
        send(db.update(accessToken).set({ role }).where(eq(accessToken.hash, hash))),
      ),
    list: () =>
      database.query(async (db) =>
        (await db.select().from(accessToken).orderBy(asc(accessToken.name))).map(tokenOf),
      ),
    revoke: (name) =>
      database.write(async ({ db, send }) => {
        const [token] = await db.delete(accessToken).where(eq(accessToken.name, name)).returning();
        if (token === undefined) return false;
        send(db.delete(webSession).where(eq(webSession.tokenHash, token.hash)));
        return true;
      }),
  };
}

function createWebSessions({ database }: Context): AccessStore["sessions"] {
  return {
    open: (session) => database.write(async ({ db, send }) => send(db.insert(webSession).values(session))),
    find: (id) =>
      database.query(async (db) => (await db.select().from(webSession).where(eq(webSession.id, id)))[0]),
    list: () => database.query(async (db) => db.select().from(webSession).orderBy(desc(webSession.usedAt))),
    used: (id, at) =>
      database.write(async ({ db, send }) =>
        send(db.update(webSession).set({ usedAt: at }).where(eq(webSession.id, id))),
      ),
    end: (id) =>
      database.write(async ({ db, send }) => send(db.delete(webSession).where(eq(webSession.id, id)))),
    forget: (usedBefore, openedBefore) =>
      database.write(async ({ db, send }) => {
        const isOld = or(lt(webSession.usedAt, usedBefore), lt(webSession.createdAt, openedBefore));
        send(db.delete(webSession).where(isOld));
      }),
  };
}
