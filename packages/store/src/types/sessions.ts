import type { Bodies, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { UsageTotals } from "./usage.ts";

/** Values with which a session is created. */
export interface SessionSeed {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  readonly account: string;
  /** The id of the person, group or channel on the other side. */
  readonly peer: string;
  /** `direct`, `group`, `channel`, … */
  readonly kind: string;
  readonly title?: string;
}

/** Settings of a session; `null` removes one. */
export interface SessionPatch {
  readonly title?: string | null;
  /** Model chosen for this session instead of the agent's. */
  readonly model?: string | null;
  /** Thinking level chosen for this session. */
  readonly thinking?: string | null;
  /** Queue mode chosen for this session: the handling of messages that arrive during a run. */
  readonly queueMode?: string | null;
  /** Other data of the host; replaced as a whole. */
  readonly data?: JsonValue | null;
}

/** One session. */
export interface Session extends SessionSeed {
  readonly model?: string;
  readonly thinking?: string;
  readonly queueMode?: string;
  /** `null` if it is damaged, to distinguish it from a session without data. */
  readonly data?: JsonValue;
  /** Number of resets. The history contains the current generation only. */
  readonly generation: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly resetAt?: Millis;
  /** The `seq` of the newest message; 0 before the first. */
  readonly lastSeq: number;
  /** Messages of the current generation that `history` would return. */
  readonly messageCount: number;
  /** The run that holds the session. */
  readonly activeRun?: RunId;
  /** Sums over all generations. */
  readonly totals: UsageTotals;
}

/** One message of a session. */
export interface SessionMessage<T extends Bodies = Bodies> {
  /** 1, 2, 3, … over the whole life of the session. */
  readonly seq: number;
  readonly generation: number;
  readonly message: T["message"];
  readonly runId?: RunId;
  readonly at: Millis;
  /** True for a summary that replaces everything before it in its generation. */
  readonly compaction: boolean;
}

/** Position of a session in a list. */
export type SessionPosition = Pick<Session, "key" | "updatedAt">;

/** Conversations. Append-only: resets and summaries hide messages but do not delete them. */
export interface SessionStore<T extends Bodies = Bodies> {
  get(key: string): Promise<Session | undefined>;
  /** Returns the session, and creates it if it does not exist. */
  ensure(seed: SessionSeed): Promise<Session>;
  /** @throws StoreError `not_found` */
  patch(key: string, patch: SessionPatch): Promise<Session>;
  /**
   * Returns the messages that the model gets, oldest first: the current generation from its latest compaction on. With
   * `limit`, only the newest.
   */
  history(key: string, options?: { readonly limit?: number }): Promise<readonly SessionMessage<T>[]>;
  /** Returns messages of all generations, newest first. */
  transcript(
    key: string,
    options?: { readonly before?: number; readonly after?: number; readonly limit?: number },
  ): Promise<readonly SessionMessage<T>[]>;
  /**
   * Appends messages outside a run.
   *
   * @throws StoreError `busy` while a run of another lease holds the session
   */
  append(key: string, messages: readonly T["message"][], lease: LeaseToken): Promise<Session>;
  /**
   * Replaces the messages up to and including `upTo` by `summary`. Later messages follow it.
   *
   * @throws StoreError `conflict` if `upTo` is not in the current history
   */
  compact(
    key: string,
    input: { readonly summary: T["message"]; readonly upTo: number; readonly lease: LeaseToken },
  ): Promise<Session>;
  /**
   * Starts a new generation: the history is empty, the transcript remains.
   *
   * @throws StoreError `busy` while a run holds the session
   */
  reset(key: string, lease: LeaseToken): Promise<Session>;
  /**
   * Removes the session and its messages. Returns false if it does not exist.
   *
   * @throws StoreError `busy` while a run holds the session
   */
  remove(key: string, lease: LeaseToken): Promise<boolean>;
  /** Most recent activity first; sessions with the same time are sorted by key. */
  list(filter?: {
    /** Only sessions with these keys. */
    readonly keys?: readonly string[];
    readonly agentId?: string;
    readonly channel?: string;
    readonly peer?: string;
    /** Only sessions after this one in that order. Pass the last session of a page to get the next page. */
    readonly behind?: SessionPosition;
    /** Only sessions with activity at or after this time. */
    readonly since?: Millis;
    /** Default 100. */
    readonly limit?: number;
  }): Promise<readonly Session[]>;
}
