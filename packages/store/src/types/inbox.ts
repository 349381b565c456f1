import type { Bodies, InboxId, LeaseToken, Millis, RunId } from "./common.ts";

/** The final states of a message. */
export type InboxFinalState =
  | "replied"
  | "silent"
  | "ignored"
  | "failed-reported"
  | "expired-reported"
  /** It failed or its reply was not delivered, and no notice about that was sent. */
  | "unreported";

/** `accepted` (committed) → `queued` (belongs to a session) → `running` → one of {@link InboxFinalState}. */
export type InboxState = "accepted" | "queued" | "running" | InboxFinalState;

/** The agent and session of a message. Set at acceptance or by {@link InboxStore.route}. */
export interface InboxRoute {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** A platform event to accept. */
export interface InboxAccept<T extends Bodies = Bodies> {
  readonly channel: string;
  readonly account: string;
  /** The platform's id of the event, the first deduplication key. */
  readonly eventId: string;
  /**
   * The platform's id of the message, the second deduplication key. Only used with `kind: "message"`, since two events
   * of other kinds can carry the same message.
   */
  readonly messageId?: string;
  /** The kind of the inbound event: `message`, `edited`, `action`, … */
  readonly kind: string;
  readonly conversationId: string;
  readonly senderId: string;
  readonly payload: T["inbound"];
  /** Default: now. */
  readonly receivedAt?: Millis;
  /** With a route the message is `queued` at once and gets its place in the session. */
  readonly route?: InboxRoute;
  /**
   * The lease that owns the message. {@link InboxStore.claimDue} returns the message to another holder only after this
   * lease is lost. Default: none.
   */
  readonly lease?: LeaseToken;
}

/** The outcome of an {@link InboxAccept}. */
export type InboxAccepted =
  | {
      readonly outcome: "accepted";
      readonly id: InboxId;
      /** Strictly increasing within a session, with gaps; not comparable between sessions. */
      readonly seq: number;
      readonly state: "accepted" | "queued";
    }
  | {
      readonly outcome: "duplicate";
      /** The row of the first delivery. Absent if the row was pruned. */
      readonly id?: InboxId;
      readonly seq?: number;
      /** The state of the first delivery. Absent if the row was pruned. */
      readonly state?: InboxState;
    }
  | {
      /** Nothing was written. Reject the request, so that the platform delivers the event again. */
      readonly outcome: "full";
      readonly unfinished: number;
      readonly limit: number;
    };

/** The reason why a message ended. */
export interface InboxDetail {
  /** The admission rule or error code, for programs. */
  readonly rule?: string;
  /** One sentence, for people. */
  readonly reason?: string;
}

/** A message of the inbox. */
export interface InboxRow<T extends Bodies = Bodies> {
  readonly id: InboxId;
  readonly seq: number;
  readonly channel: string;
  readonly account: string;
  readonly eventId: string;
  readonly messageId?: string;
  readonly kind: string;
  readonly conversationId: string;
  readonly senderId: string;
  readonly payload: T["inbound"];
  readonly receivedAt: Millis;
  readonly state: InboxState;
  readonly detail?: InboxDetail;
  readonly route?: InboxRoute;
  /** The run that answers or answered it. */
  readonly runId?: RunId;
  /** Number of edits on the platform that replaced the payload. */
  readonly revision: number;
  /** Time of the final state. */
  readonly settledAt?: Millis;
}

/** The platform's id of a message. */
export interface PlatformMessage {
  readonly channel: string;
  readonly account: string;
  readonly messageId: string;
}

/**
 * The outcome of an edit or a deletion. `applied`; `late` if the message has its final state, or for an edit, if a run
 * answers it (nothing was written); `unknown` if the message is not stored.
 */
export type InboxChange =
  | { readonly outcome: "applied" | "late"; readonly id: InboxId; readonly state: InboxState }
  | { readonly outcome: "unknown" };

/** The end of a message. `queued` returns it to its session's queue. A withdrawn message ends as `ignored`. */
export interface InboxSettle {
  readonly id: InboxId;
  readonly state: InboxFinalState | "queued";
  readonly detail?: InboxDetail;
}

/** Accepted messages, from acceptance to their final state. */
export interface InboxStore<T extends Bodies = Bodies> {
  /** Accepts an event. Acknowledge it to the platform after this resolves with any outcome but `full`. */
  accept(event: InboxAccept<T>): Promise<InboxAccepted>;
  /**
   * As {@link accept}, but resolves after the commit, before the sync, so that processing can begin. A power failure
   * before `onDisk` resolves may undo it: acknowledge the event after `onDisk`. If `onDisk` rejects, the store must be
   * reopened.
   */
  acceptAhead(
    event: InboxAccept<T>,
  ): Promise<{ readonly result: InboxAccepted; readonly onDisk: Promise<void> }>;
  /**
   * Assigns an `accepted` message to a session, sets the state `queued`, and replaces its `payload` if given.
   *
   * @throws StoreError `conflict` in any other state
   */
  route(id: InboxId, route: InboxRoute, payload?: T["inbound"]): Promise<void>;
  /**
   * Ends a message that no run answers (ignored by a rule, expired, or answered by a command). Returns false and
   * changes nothing if the message has its final state already.
   */
  settle(id: InboxId, state: InboxFinalState, detail?: InboxDetail): Promise<boolean>;
  /**
   * Replaces the payload of a message that was edited before a run took it. A message that ended without a run gives
   * `late`, but its payload is replaced anyway.
   */
  revise(message: PlatformMessage, payload: T["inbound"]): Promise<InboxChange>;
  /**
   * Ends a message that was deleted on its platform as `ignored`. If a run answers it (state `running`), it stores the
   * detail and ends as `ignored` with the run. A second call gives `late`.
   */
  withdraw(message: PlatformMessage | InboxId, detail?: InboxDetail): Promise<InboxChange>;
  get(id: InboxId): Promise<InboxRow<T> | undefined>;
  /** Finds a message (`kind: "message"`) by the platform's id. Without channel or account: the newest of any. */
  find(message: { channel?: string; account?: string; messageId: string }): Promise<InboxRow<T> | undefined>;
  /**
   * Claims waiting messages, routed or not, without a lease or with a lost one, and assigns them to `lease`. Returns
   * them in the order of their arrival. Messages of `lease` itself are never returned, even if it expired in the
   * meantime: its holder already works on them.
   */
  claimDue(lease: LeaseToken): Promise<readonly InboxRow<T>[]>;
  /**
   * Iterates over the messages that were unfinished at the time of the call, without damaged ones. Reads them one by
   * one, since many may be large.
   */
  unfinished(): AsyncIterable<InboxRow<T>>;
  /** Newest first. */
  list(filter?: {
    readonly state?: InboxState;
    readonly sessionKey?: string;
    /** Only rows older than this one. */
    readonly before?: InboxId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly InboxRow<T>[]>;
}
