import { blob, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Open pairing requests from unknown senders. */
export const pairingRequest = sqliteTable(
  "pairing_request",
  {
    channel: text().notNull(),
    account: text().notNull(),
    peerId: text().notNull(),
    label: text(),
    codeHash: blob({ mode: "buffer" }).notNull(),
    tries: integer().notNull().default(0),
    createdAt: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peerId] })],
);

/** Senders who may send direct messages to an agent. */
export const pairingPeer = sqliteTable(
  "pairing_peer",
  {
    channel: text().notNull(),
    account: text().notNull(),
    peerId: text().notNull(),
    label: text(),
    approvedAt: integer().notNull(),
    approvedBy: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peerId] })],
);
export type PairingPeerRecord = typeof pairingPeer.$inferSelect;
