import type * as schema from "./schema.ts";

// One row of each table, as SQLite gives it.
export type LeaseRecord = typeof schema.lease.$inferSelect;
export type InboxRecord = typeof schema.inbox.$inferSelect;
export type EntryRecord = typeof schema.entry.$inferSelect;
export type SessionRecord = typeof schema.session.$inferSelect;
export type RunRecord = typeof schema.run.$inferSelect;
export type ActiveRunRecord = typeof schema.activeRun.$inferSelect;
export type ToolCallRecord = typeof schema.toolCall.$inferSelect;
export type OutboxRecord = typeof schema.outbox.$inferSelect;
export type KvRecord = typeof schema.kv.$inferSelect;
export type PairingRequestRecord = typeof schema.pairingRequest.$inferSelect;
export type PairingPeerRecord = typeof schema.pairingPeer.$inferSelect;
