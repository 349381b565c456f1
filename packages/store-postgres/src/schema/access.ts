import type { TokenRole } from "@signalbox/store/types";
import { index, pgTable } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

/** Client tokens, stored by hash. */
export const accessToken = pgTable("access_token", {
  hash: string().primaryKey(),
  name: string().notNull().unique(),
  role: string<TokenRole>().notNull(),
  createdAt: integer().notNull(),
  usedAt: integer(),
});

/** Browser sessions. The key is a hash of the cookie and the CSRF token. */
export const webSession = pgTable(
  "web_session",
  {
    id: string().primaryKey(),
    tokenHash: string().notNull(),
    createdAt: integer().notNull(),
    usedAt: integer().notNull(),
  },
  (t) => [index("web_session_token").on(t.tokenHash)],
);
