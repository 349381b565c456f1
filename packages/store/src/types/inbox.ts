import type { Bodies, InboxId, LeaseToken, Millis, RunId } from "./common.ts";

/** The final states of a message. */
export type InboxFinalState =
  | "replied"
  | "silent"
  | "ignored"
  | "failed-reported"
  | "expired-reported"
  /** The message failed or its reply was not delivered, and no notice about this was sent. */
  | "unreported";

/** `accepted` (committed) → `queued` (belongs to a session) → `running` → one of {@link InboxFinalState}. */
export type InboxState = "accepted" | "queued" | "running" | InboxFinalState;

/** A message's agent and session. Set at acceptance or by {@link InboxStore.route}. */
export interface InboxRoute {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** A platform event to accept. */
export interface InboxAccept<T extends Bodies = Bodies> {
  readonly channel: string;
  readonly account: string;
  /** The platform's event id, which is the first deduplication key. */
  readonly eventId: string;
  /**
   * The platform's message id, which is the second deduplication key. Only used with `kind: "message"`, because two
   * events of other kinds can contain the same message id.
   */
  readonly messageId?: string;
  /** The kind of the inbound event: `message`, `edited`, `action`, … */
  readonly kind: string;
  readonly conversationId: string;
  readonly senderId: string;
  readonly payload: T["inbound"];
  /** Default: now. */
  readonly receivedAt?: Millis;
  /** A message with a route is `queued` immediately and gets its position in the session. */
  readonly route?: InboxRoute;
  /**
   * The lease that owns the message. {@link InboxStore.claimDue} assigns the message to another holder only after this
   * lease is lost. Default: none.
   */
  readonly lease?: LeaseToken;
}

/** The outcome of an {@link InboxAccept}. */
export type InboxAccepted =
  | {
      readonly outcome: "accepted";
      readonly id: InboxId;
      /** Strictly increasing within a session, with gaps. Not comparable between sessions. */
      readonly seq: number;
      readonly state: "accepted" | "queued";
      /**
       * True if the message got no lease, because earlier messages of its session wait and belong to another lease or
       * to none. Only stores that processes share do this.
       */
      readonly isUnclaimed?: true;
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
      /** Nothing was written. Reject the request, so that the platform redelivers the event. */
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

/** An inbox message. */
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
  /** The run that is answering or has answered the message. */
  readonly runId?: RunId;
  /** Number of times an edit on the platform replaced the payload. */
  readonly revision: number;
  /** Time at which the message reached its final state. */
  readonly settledAt?: Millis;
}

/** Identifies a message by its platform id. */
export interface PlatformMessage {
  readonly channel: string;
  readonly account: string;
  readonly messageId: string;
}

/**
 * The outcome of an edit or a deletion. `applied`: the change was stored. `late`: the message has its final state or,
 * for an edit, a run is already answering it, and nothing was written. `unknown`: the message is not stored.
 */
export type InboxChange =
  | { readonly outcome: "applied" | "late"; readonly id: InboxId; readonly state: InboxState }
  | { readonly outcome: "unknown" };

/**
 * The final state of a message. `queued` returns the message to its session's queue. A withdrawn message ends as
 * `ignored`.
 */
export interface InboxSettle {
  readonly id: InboxId;
  readonly state: InboxFinalState | "queued";
  readonly detail?: InboxDetail;
}

/** Stores accepted messages from acceptance to their final state. */
export interface InboxStore<T extends Bodies = Bodies> {
  /** Accepts an event. Acknowledge the event to the platform after this resolves with any outcome except `full`. */
  accept(event: InboxAccept<T>): Promise<InboxAccepted>;
  /**
   * Like {@link accept}, but resolves after the commit, before the sync, so that processing can begin. A power failure
   * before `onDisk` resolves may undo the commit, so acknowledge the event after `onDisk`. If `onDisk` rejects, the
   * store must be reopened.
   */
  acceptAhead(
    event: InboxAccept<T>,
  ): Promise<{ readonly result: InboxAccepted; readonly onDisk: Promise<void> }>;
  /**
   * Assigns an `accepted` message to a session, sets its state to `queued`, and replaces its `payload` if one is given.
   *
   * @throws StoreError `conflict` in any other state
   */
  route(id: InboxId, route: InboxRoute, payload?: T["inbound"]): Promise<void>;
  /**
   * Ends a message that no run answers because it was ignored by a rule, has expired, or was answered by a command.
   * Returns false and changes nothing if the message already has its final state.
   */
  settle(id: InboxId, state: InboxFinalState, detail?: InboxDetail): Promise<boolean>;
  /**
   * Replaces the payload of a message that was edited before a run took it. For a message that ended without a run, the
   * outcome is `late`, but the payload is replaced anyway.
   *
   * @param lease the lease under which this process holds the message, if it holds it
   * @throws FencedError if a waiting message is claimed by another lease, whose holder has read the earlier payload
   */
  revise(message: PlatformMessage | InboxId, payload: T["inbound"], lease?: LeaseToken): Promise<InboxChange>;
  /**
   * Ends a message that was deleted on its platform as `ignored`. If a run is answering the message (state `running`),
   * the detail is stored and the message ends as `ignored` together with the run. A second call returns `late`.
   */
  withdraw(message: PlatformMessage | InboxId, detail?: InboxDetail): Promise<InboxChange>;
  get(id: InboxId): Promise<InboxRow<T> | undefined>;
  /**
   * Finds a message (`kind: "message"`) by the platform's id. Without a channel or an account, returns the newest match
   * from any.
   */
  find(message: { channel?: string; account?: string; messageId: string }): Promise<InboxRow<T> | undefined>;
  /** Finds what was accepted under an event id, if it is still stored. */
  findEvent(event: Pick<InboxAccept, "channel" | "account" | "eventId">): Promise<InboxRow<T> | undefined>;
  /**
   * Claims waiting messages that have no lease or a lost one, routed or not, and assigns them to `lease`. Returns them
   * in the order of arrival. Never returns the messages of `lease` itself, even if it has expired, because its holder
   * is already working on them. Leaves a message whose session has an earlier one that cannot be claimed yet.
   *
   * @param mayClaim returns false for messages that other processes answer. It gets the route, if the message has one.
   * Default: all messages
   */
  claimDue(
    lease: LeaseToken,
    mayClaim?: (route: InboxRoute | undefined) => boolean,
  ): Promise<readonly InboxRow<T>[]>;
  /**
   * Removes the lease from messages of `lease` that are waiting, so that another process can claim them. Ignores other
   * messages.
   */
  release(ids: readonly InboxId[], lease: LeaseToken): Promise<void>;
  /**
   * Iterates over the messages that were unfinished at the time of the call, except damaged ones. Reads them one by
   * one, because many of them may be large.
   */
  unfinished(): AsyncIterable<InboxRow<T>>;
  /** Returns messages, newest first. */
  list(filter?: {
    readonly state?: InboxState;
    readonly sessionKey?: string;
    /** Only rows older than this one. */
    readonly before?: InboxId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly InboxRow<T>[]>;
}
