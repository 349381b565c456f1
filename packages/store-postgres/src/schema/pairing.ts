import { customType, pgTable, primaryKey } from "drizzle-orm/pg-core";
import { integer, string } from "./columns.ts";

const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });

/** Open pairing requests from unknown senders. */
export const pairingRequest = pgTable(
  "pairing_request",
  {
    channel: string().notNull(),
    account: string().notNull(),
    peerId: string().notNull(),
    label: string(),
    codeHash: bytes().notNull(),
    tries: integer().notNull().default(0),
    createdAt: integer().notNull(),
    expiresAt: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peerId] })],
);

/** Senders who may send direct messages to an agent. */
export const pairingPeer = pgTable(
  "pairing_peer",
  {
    channel: string().notNull(),
    account: string().notNull(),
    peerId: string().notNull(),
    label: string(),
    approvedAt: integer().notNull(),
    approvedBy: string().notNull(),
  },
  (t) => [primaryKey({ columns: [t.channel, t.account, t.peerId] })],
);
export type PairingPeerRecord = typeof pairingPeer.$inferSelect;
