import type { Bodies, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { UsageTotals } from "./usage.ts";

/** Initial values for creating a session. */
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

/** Changes to a session's settings. `null` removes a setting. */
export interface SessionPatch {
  readonly title?: string | null;
  /** Model chosen for this session instead of the agent's model. */
  readonly model?: string | null;
  /** Thinking level chosen for this session. */
  readonly thinking?: string | null;
  /** Queue mode chosen for this session. It controls how messages that arrive during a run are handled. */
  readonly queueMode?: string | null;
  /** Other data of the host. It is replaced as a whole. */
  readonly data?: JsonValue | null;
}

/** One session. */
export interface Session extends SessionSeed {
  readonly model?: string;
  readonly thinking?: string;
  readonly queueMode?: string;
  /** `null` if the data is damaged, to distinguish it from a session without data. */
  readonly data?: JsonValue;
  /** Number of resets. The history contains only the current generation. */
  readonly generation: number;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly resetAt?: Millis;
  /** The `seq` of the newest message. 0 before the first message. */
  readonly lastSeq: number;
  /** Number of messages in the current generation that `history` would return. */
  readonly messageCount: number;
  /** The run that holds the session. */
  readonly activeRun?: RunId;
  /** Sums over all generations. */
  readonly totals: UsageTotals;
}

/** One message of a session. */
export interface SessionMessage<T extends Bodies = Bodies> {
  /** 1, 2, 3, … over the lifetime of the session. */
  readonly seq: number;
  readonly generation: number;
  readonly message: T["message"];
  readonly runId?: RunId;
  readonly at: Millis;
  /** True for a summary that replaces all earlier messages of its generation. */
  readonly compaction: boolean;
}

/** Position of a session in a list. */
export type SessionPosition = Pick<Session, "key" | "updatedAt">;

/** Stores conversations. They are append-only: resets and summaries hide messages but do not delete them. */
export interface SessionStore<T extends Bodies = Bodies> {
  get(key: string): Promise<Session | undefined>;
  /** Returns the session. Creates it if it does not exist. */
  ensure(seed: SessionSeed): Promise<Session>;
  /** @throws StoreError `not_found` */
  patch(key: string, patch: SessionPatch): Promise<Session>;
  /**
   * Returns the messages for the model, oldest first: the current generation, starting at its latest compaction. With
   * `limit`, returns only the newest messages.
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
   * @throws StoreError `busy` if a run of another lease holds the session
   */
  append(key: string, messages: readonly T["message"][], lease: LeaseToken): Promise<Session>;
  /**
   * Replaces the messages up to and including `upTo` with `summary`. Later messages follow the summary.
   *
   * @throws StoreError `conflict` if `upTo` is not in the current history
   */
  compact(
    key: string,
    input: { readonly summary: T["message"]; readonly upTo: number; readonly lease: LeaseToken },
  ): Promise<Session>;
  /**
   * Starts a new generation. The history is then empty, and the transcript remains.
   *
   * @throws StoreError `busy` if a run holds the session
   */
  reset(key: string, lease: LeaseToken): Promise<Session>;
  /**
   * Removes the session and its messages. Returns false if the session does not exist.
   *
   * @throws StoreError `busy` if a run holds the session
   */
  remove(key: string, lease: LeaseToken): Promise<boolean>;
  /** Returns sessions, most recently active first. Sessions with the same time are sorted by key. */
  list(filter?: {
    /** Only sessions with these keys. */
    readonly keys?: readonly string[];
    readonly agentId?: string;
    readonly channel?: string;
    readonly peer?: string;
    /** Only sessions after this one in list order. Pass the last session of a page to get the next page. */
    readonly behind?: SessionPosition;
    /** Only sessions with activity at or after this time. */
    readonly since?: Millis;
    /** Default 100. */
    readonly limit?: number;
  }): Promise<readonly Session[]>;
}
