import type { Bodies, JsonValue, LeaseToken, Millis, RunId } from "./common.ts";
import type { UsageTotals } from "./usage.ts";

/** What a new session is created with. */
export interface SessionSeed {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  readonly account: string;
  /** The other side: a person's, group's or channel's id. */
  readonly peer: string;
  /** `direct`, `group`, `channel`, … */
  readonly kind: string;
  readonly title?: string;
}

/** What people and commands set on a session; `null` removes a setting. */
export interface SessionPatch {
  readonly title?: string | null;
  /** Model chosen for this session instead of the agent's. */
  readonly model?: string | null;
  /** Thinking level chosen for this session. */
  readonly thinking?: string | null;
  /** How messages that come during a run are treated, as chosen for this session. */
  readonly queueMode?: string | null;
  /** Anything else the host keeps with a session; replaced as a whole. */
  readonly data?: JsonValue | null;
}

/** One session. */
export interface Session extends SessionSeed {
  readonly model?: string;
  readonly thinking?: string;
  readonly queueMode?: string;
  /** `null` if it is damaged, so that damaged settings are not taken for none. */
  readonly data?: JsonValue;
  /** Counts resets; the history is that of the current generation. */
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
  /** Over all generations. */
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

/** Where a session stands among those that are listed. */
export type SessionPosition = Pick<Session, "key" | "updatedAt">;

/** The conversations: append-only, with resets and summaries that hide messages but do not delete them. */
export interface SessionStore<T extends Bodies = Bodies> {
  get(key: string): Promise<Session | undefined>;
  /** The session, created now if it does not exist. */
  ensure(seed: SessionSeed): Promise<Session>;
  /** Error `not_found`. */
  patch(key: string, patch: SessionPatch): Promise<Session>;
  /**
   * What the model sees, oldest first: the current generation from its latest compaction on. With `limit`, only the
   * newest ones.
   */
  history(key: string, options?: { readonly limit?: number }): Promise<readonly SessionMessage<T>[]>;
  /** Every message of every generation, newest first, for people who look back. */
  transcript(
    key: string,
    options?: { readonly before?: number; readonly after?: number; readonly limit?: number },
  ): Promise<readonly SessionMessage<T>[]>;
  /** Adds messages outside a run. Error `busy` while a run of another lease holds the session. */
  append(key: string, messages: readonly T["message"][], lease: LeaseToken): Promise<Session>;
  /**
   * Replaces the messages up to and including `upTo` by `summary`; later ones follow it. Error `conflict` if `upTo` is
   * not in the current history.
   */
  compact(
    key: string,
    input: { readonly summary: T["message"]; readonly upTo: number; readonly lease: LeaseToken },
  ): Promise<Session>;
  /** Starts a new generation: history is empty, the transcript stays. Error `busy` while a run holds the session. */
  reset(key: string, lease: LeaseToken): Promise<Session>;
  /** Removes the session and its messages; `false` when there was none. Error `busy` while a run holds it. */
  remove(key: string, lease: LeaseToken): Promise<boolean>;
  /** Newest activity first, and of one moment by their keys. */
  list(filter?: {
    /** Only these, if they exist. */
    readonly keys?: readonly string[];
    readonly agentId?: string;
    readonly channel?: string;
    readonly peer?: string;
    /** Only sessions behind this one in that order: the last of a page, for the next page. */
    readonly behind?: SessionPosition;
    /** Only sessions whose last activity was then or later. */
    readonly since?: Millis;
    /** Default 100. */
    readonly limit?: number;
  }): Promise<readonly Session[]>;
}
