import type { Bodies, JsonValue, LeaseToken, Millis } from "./common.ts";
import type { GroupHistoryEntry, ToldEntry } from "./history.ts";
import type { OutboxInsert } from "./outbox.ts";

/**
 * Resolved routes, so that a restart is warm. A digest names everything a route depends on. Pruning removes those that
 * were put more than 30 days ago.
 */
export interface RouteCacheStore {
  /** The most recently written routes of one configuration, newest first. Default limit 2000. */
  load(
    config: string,
    limit?: number,
  ): Promise<readonly { readonly digest: string; readonly route: JsonValue }[]>;
  put(config: string, rows: readonly { readonly digest: string; readonly route: JsonValue }[]): Promise<void>;
  /** Removes the routes of every other configuration; gives their number. */
  prune(keepConfig: string): Promise<number>;
}

/** A ring for each conversation. What is old goes with pruning, since nobody may ever speak there again. */
export interface GroupHistoryStore {
  /** Adds one; the oldest beyond `limit` (default 20) go. The same id again replaces. */
  push(conversation: string, entry: GroupHistoryEntry, limit?: number): Promise<void>;
  /**
   * Changes one that is there, and what models were told of it (edited on the platform);
   * false where it is not there, or not any more.
   */
  revise(conversation: string, id: string, body: JsonValue): Promise<boolean>;
  /** Oldest first. */
  list(conversation: string): Promise<readonly GroupHistoryEntry[]>;
  /** Removes one (deleted on the platform), or all, and what models were told of it. */
  clear(conversation: string, id?: string): Promise<void>;
}

/** What a model was told beside a message of a session, over its words. */
export interface MessageContext {
  readonly seq: number;
  readonly text: string;
  /** What was said in the group before, oldest first. */
  readonly told: readonly ToldEntry[];
  /** What came from memory; empty where nothing did, and once it was forgotten. */
  readonly recalled: string;
  /** Whether what came from memory is for owners alone. */
  readonly forOwner: boolean;
}

/** Kept as long as the messages are, so that the model is told the same of them in each later request. */
export interface MessageContextStore {
  /** Replaces what is there for these messages. */
  put(sessionKey: string, contexts: readonly MessageContext[]): Promise<void>;
  /** Those of messages that have one, from this message on, oldest first. */
  from(sessionKey: string, seq: number): Promise<readonly MessageContext[]>;
  /** Takes what came from memory out of all sessions of an agent; gives the number of messages. */
  forgetRecalled(agentId: string): Promise<number>;
}

/** Small values with a name: cursors, resume states, cached names. */
export interface KvStore {
  get(namespace: string, key: string): Promise<JsonValue | undefined>;
  /** `ttlMs`: it is gone after so long. Default: it stays. */
  set(namespace: string, key: string, value: JsonValue, ttlMs?: number): Promise<void>;
  delete(namespace: string, key: string): Promise<boolean>;
  /** By key. The value of one that is damaged is `null`: whoever reads them has to know it by its key. */
  list(
    namespace: string,
  ): Promise<readonly { readonly key: string; readonly value: JsonValue; readonly expiresAt?: Millis }[]>;
}

/** A stranger who asked to talk. The code itself is kept only as a hash. */
export interface PairingRequest {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
  readonly label?: string;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
}

export interface PairingPeer {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
  readonly label?: string;
  readonly approvedAt: Millis;
  readonly approvedBy: string;
}

/** Who may write to an agent directly. */
export interface PairingStore<T extends Bodies = Bodies> {
  /**
   * Opens a request. `pending`: this peer has one already that still is good (its code is not known any more);
   * `full`: the account has its number of open requests. Defaults: 10 min, 3 open per account. Where a request is
   * opened, `reply` goes into the outbox in the same transaction, so that no code exists that nobody was told.
   */
  request(input: {
    readonly channel: string;
    readonly account: string;
    readonly peerId: string;
    readonly label?: string;
    readonly code: string;
    readonly reply?: { readonly row: OutboxInsert<T>; readonly lease: LeaseToken };
  }): Promise<"created" | "pending" | "full" | "approved">;
  /**
   * Uses a code once. `unknown`: no open request has it. Every wrong try counts against the open requests of the
   * account (of all accounts when none is named); at 5 a request is closed.
   */
  approve(input: {
    readonly code: string;
    readonly approvedBy: string;
    readonly channel?: string;
    readonly account?: string;
  }): Promise<{ readonly outcome: "approved"; readonly peer: PairingPeer } | { readonly outcome: "unknown" }>;
  isApproved(channel: string, account: string, peerId: string): Promise<boolean>;
  revoke(channel: string, account: string, peerId: string): Promise<boolean>;
  pending(): Promise<readonly PairingRequest[]>;
  peers(): Promise<readonly PairingPeer[]>;
}

/** What one stage did with a message. */
export interface TraceEntry {
  /** The stage: `intake`, `routing`, `prompt`, … */
  readonly stage: string;
  readonly data: JsonValue;
  /** Default: now. */
  readonly at?: Millis;
}

/** Explanations. Written with the next commit; losing the last of them to a crash loses no message. */
export interface TraceStore {
  /** `subject`: usually an inbox id. */
  append(subject: string, entries: readonly TraceEntry[]): Promise<void>;
  read(subject: string): Promise<readonly Required<TraceEntry>[]>;
}
