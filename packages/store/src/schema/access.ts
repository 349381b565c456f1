import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Client tokens, stored by hash. */
export const accessToken = sqliteTable("access_token", {
  hash: text().primaryKey(),
  name: text().notNull().unique(),
  role: text({ enum: ["owner", "operator", "viewer", "monitor", "member"] }).notNull(),
  createdAt: integer().notNull(),
  usedAt: integer(),
});

/** Browser sessions. The key is a hash of the cookie and the CSRF token. */
export const webSession = sqliteTable(
  "web_session",
  {
    id: text().primaryKey(),
    tokenHash: text().notNull(),
    createdAt: integer().notNull(),
    usedAt: integer().notNull(),
  },
  (t) => [index("web_session_token").on(t.tokenHash)],
);
