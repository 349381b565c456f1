import type { OutboxState } from "./outbox.ts";

/** How long things are kept, in milliseconds. Unfinished work is never pruned, nor what an unsent reply answers. */
export interface Retention {
  /** Ended inbox rows with their payload. Default 7 days. */
  readonly inboxMs?: number;
  /** Keys against redelivery. Default 14 days, never less than 7. */
  readonly dedupeMs?: number;
  /** Ended runs and their journals (usage stays, summed by day). Default 30 days. */
  readonly runsMs?: number;
  /** Sent, dropped and given-up outbox rows. Default 14 days. */
  readonly outboxMs?: number;
  /** Default 7 days. */
  readonly tracesMs?: number;
  /** The most trace rows kept, the newest; a row holds what was noted of a message at one moment. Default 200,000. */
  readonly traceRows?: number;
  /** The most bytes of traces kept, the newest. Default 256 MiB. */
  readonly traceBytes?: number;
  /** Questions about tool calls, with what was decided. Default 90 days. */
  readonly approvalsMs?: number;
  /**
   * Messages of earlier generations and before a compaction, and what was said in groups unaddressed. Default 90 days.
   */
  readonly hiddenMessagesMs?: number;
  /** Whole sessions without activity; never one with unfinished work. Default: kept for ever. */
  readonly idleSessionsMs?: number;
  /** The most sessions kept, those with the latest activity. Default: all. */
  readonly sessions?: number;
  /**
   * Bytes in use beyond which traces, journals, hidden messages and ended rows are removed sooner than their time, down
   * to a 256th of it. Default: no limit.
   */
  readonly databaseBytes?: number;
}

export interface PruneReport {
  readonly inbox: number;
  readonly dedupe: number;
  readonly runs: number;
  readonly outbox: number;
  readonly traces: number;
  readonly messages: number;
  readonly sessions: number;
  readonly kv: number;
  readonly approvals: number;
  /** In use afterwards. */
  readonly usedBytes: number;
}

/** Unfinished work, and counts since the store was opened. */
export interface StoreStats {
  /** Unfinished messages by state. */
  readonly inbox: Readonly<Record<"accepted" | "queued" | "running", number>>;
  /** Replies that were not sent, by state. */
  readonly outbox: Readonly<Record<Exclude<OutboxState, "sent">, number>>;
  readonly runsActive: number;
  /** Since the store was opened. */
  readonly commits: number;
  readonly calls: number;
  readonly syncs: number;
}

export interface MaintenanceStore {
  /**
   * Removes what is older than its retention, in short transactions between other calls. A failure does not keep other
   * things from being removed; rejects at the end with the first one.
   */
  prune(retention?: Retention): Promise<PruneReport>;
  stats(): Promise<StoreStats>;
}
