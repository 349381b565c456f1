import type { Millis } from "./common.ts";
import type { OutboxState } from "./outbox.ts";

/**
 * Retention times, in milliseconds. Unfinished work is never pruned, and neither are messages that an unsent reply
 * answers.
 */
export interface Retention {
  /** Finished inbox rows with their payloads. Default 7 days. */
  readonly inboxMs?: number;
  /** Deduplication keys. Default 14 days, at least 7. */
  readonly dedupeMs?: number;
  /** Completed runs and their journals. Their usage remains as daily sums. Default: 30 days. */
  readonly runsMs?: number;
  /** Sent and given-up outbox rows. Default 14 days. */
  readonly outboxMs?: number;
  /** Traces. Default: 7 days. */
  readonly tracesMs?: number;
  /**
   * Maximum number of trace rows. The newest are kept. A row holds entries for one message that were written together.
   * Default: 200,000.
   */
  readonly traceRows?: number;
  /** Maximum size of all traces, in bytes. The newest are kept. Default: 256 MiB. */
  readonly traceBytes?: number;
  /** Approval requests and their decisions. Default 90 days. */
  readonly approvalsMs?: number;
  /** Messages of earlier generations, messages before a compaction, and group history. Default: 90 days. */
  readonly hiddenMessagesMs?: number;
  /** Sessions without activity and without unfinished work. Default: never removed. */
  readonly idleSessionsMs?: number;
  /** Maximum number of sessions. The most recently active are kept. Default: unlimited. */
  readonly sessions?: number;
  /**
   * Maximum size of the data, in bytes. If the data is larger, traces, journals, hidden messages and ended rows are
   * removed earlier, down to 1/256 of their retention times. Default: unlimited.
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
  /** Bytes in use after pruning. */
  readonly usedBytes: number;
}

/** Unfinished work, and counters since the store was opened. */
export interface StoreStats {
  /** Unfinished messages by state. */
  readonly inbox: Readonly<Record<"accepted" | "queued" | "running", number>>;
  /** Unsent replies by state. */
  readonly outbox: Readonly<Record<Exclude<OutboxState, "sent">, number>>;
  readonly runsActive: number;
  /** Time at which the oldest unfinished message was received. */
  readonly oldestInboxAt?: Millis;
  /** Time at which the oldest unsent reply was created. */
  readonly oldestOutboxAt?: Millis;
  /** Size of the database in bytes, with its free space. */
  readonly databaseBytes: number;
  /** Transactions committed since the store was opened. */
  readonly commits: number;
  readonly calls: number;
  readonly syncs: number;
}

/** Texts to erase. */
export interface EraseRequest {
  /** Keys of the sessions to replace texts in. */
  readonly sessions: readonly string[];
  /** Messages to replace as a whole, regardless of their length. */
  readonly messages: readonly { readonly sessionKey: string; readonly seq: number }[];
  /**
   * Texts to replace in these sessions: in messages, tool calls and their results, contexts, approval requests,
   * replies, titles, and traces of their messages. Ids, addresses, types and names of tools never change, and neither
   * do texts of fewer than ten characters and the audit log.
   */
  readonly texts: readonly string[];
}

export interface MaintenanceStore {
  /**
   * Replaces texts with `[forgotten]`, in short transactions between other calls. Concurrent calls run one after the
   * other. A file of up to 250 MB is then rewritten, once for all calls that wait, so that its unused pages do not
   * contain the texts either.
   *
   * @returns the number of changed rows
   */
  erase(request: EraseRequest): Promise<number>;
  /**
   * Removes data beyond its retention limits, in short transactions between other calls. A failure in one table does
   * not prevent the pruning of the others.
   *
   * @throws the first failure, after all tables were tried
   */
  prune(retention?: Retention): Promise<PruneReport>;
  stats(): Promise<StoreStats>;
}
