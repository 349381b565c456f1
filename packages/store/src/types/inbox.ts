import type { Bodies, InboxId, LeaseToken, Millis, RunId } from "./common.ts";

/** The final states of a message; the others lead to one. */
export type InboxFinalState = "replied" | "silent" | "ignored" | "failed-reported" | "expired-reported";

/** `accepted` (committed) → `queued` (belongs to a session) → `running` → one of {@link InboxFinalState}. */
export type InboxState = "accepted" | "queued" | "running" | InboxFinalState;

/** Where a message goes: known at acceptance if routing is fast enough, otherwise set by {@link InboxStore.route}. */
export interface InboxRoute {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** One platform event to accept. */
export interface InboxAccept<T extends Bodies = Bodies> {
  readonly channel: string;
  readonly account: string;
  /** The platform's id of the event: the first key against redelivery. */
  readonly eventId: string;
  /**
   * The platform's id of the message: the second key against redelivery, for `kind: "message"` only, where two
   * different events can carry one message.
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
   * The lease that owns the message: {@link InboxStore.claimDue} gives it to no one else while this lease is valid.
   * Default: none. A message accepted under a lost lease is due at once.
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
      /** The row of the first delivery; absent when only its tombstone is left. */
      readonly id?: InboxId;
      readonly seq?: number;
      /** The state of the first delivery; absent with its row. */
      readonly state?: InboxState;
    }
  | {
      /** Nothing was written: refuse the platform, so that it delivers again. */
      readonly outcome: "full";
      readonly unfinished: number;
      readonly limit: number;
    };

/** Why a message ended. */
export interface InboxDetail {
  /** The gate rule or the error's code, for programs. */
  readonly rule?: string;
  /** One sentence, for people. */
  readonly reason?: string;
}

/** One message of the inbox. */
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
  /** How often a later version of the platform replaced the payload. */
  readonly revision: number;
  /** When it reached its end. */
  readonly settledAt?: Millis;
}

/** The platform's id of a message. */
export interface PlatformMessage {
  readonly channel: string;
  readonly account: string;
  readonly messageId: string;
}

/**
 * The outcome of an edit or a deletion: `applied`; `late` if the message has its end, for an edit also if a run has it
 * (nothing written); `unknown` if no such message is stored.
 */
export type InboxChange =
  | { readonly outcome: "applied" | "late"; readonly id: InboxId; readonly state: InboxState }
  | { readonly outcome: "unknown" };

/** An end for one message. `queued` gives it back to its session's queue. One that was withdrawn ends as `ignored`. */
export interface InboxSettle {
  readonly id: InboxId;
  readonly state: InboxFinalState | "queued";
  readonly detail?: InboxDetail;
}

/** Every message the gateway has taken responsibility for, from acceptance to its one end. */
export interface InboxStore<T extends Bodies = Bodies> {
  /** Takes responsibility for an event. Acknowledge the platform after this resolved with anything but `full`. */
  accept(event: InboxAccept<T>): Promise<InboxAccepted>;
  /**
   * The same, but resolves with the commit, so that what needs no more can begin: a loss of power takes it until
   * `onDisk` resolves. Acknowledge the platform after that. If it rejects, the store has to be opened again.
   */
  acceptAhead(
    event: InboxAccept<T>,
  ): Promise<{ readonly result: InboxAccepted; readonly onDisk: Promise<void> }>;
  /**
   * Gives an `accepted` message its session and the state `queued`, and optionally replaces its `payload`. Error
   * `conflict` in any other state.
   */
  route(id: InboxId, route: InboxRoute, payload?: T["inbound"]): Promise<void>;
  /**
   * Ends a message that no run answers (ignored by a rule, expired, answered by a command). Settling one that has
   * its end already changes nothing and gives `false`.
   */
  settle(id: InboxId, state: InboxFinalState, detail?: InboxDetail): Promise<boolean>;
  /**
   * The platform's later version of a message that no run has started to answer. A message that ended without a run is
   * `late`, but its later version is stored anyway.
   */
  revise(message: PlatformMessage, payload: T["inbound"]): Promise<InboxChange>;
  /**
   * A message deleted on the platform before it was answered: it ends as `ignored`. One that a run has (state
   * `running`) keeps the detail and ends so with its run, whatever end the run gives it. A second call is `late`.
   */
  withdraw(message: PlatformMessage | InboxId, detail?: InboxDetail): Promise<InboxChange>;
  get(id: InboxId): Promise<InboxRow<T> | undefined>;
  /** A message (`kind: "message"`) by the platform's id; without channel or account the newest of any. */
  find(message: { channel?: string; account?: string; messageId: string }): Promise<InboxRow<T> | undefined>;
  /**
   * Takes the messages that wait, routed or not, and that nobody works on: what nobody's lease stands for, or one that
   * was lost. They are the asker's from then on. What is the asker's already is under way there, also where its lease
   * has run out meanwhile. In the order in which they came.
   */
  claimDue(lease: LeaseToken): Promise<readonly InboxRow<T>[]>;
  /**
   * Messages that had no end at the time of the call, without damaged ones; read one by one, since there may be many
   * large ones.
   */
  unfinished(): AsyncIterable<InboxRow<T>>;
  /** Newest first; for lists and search. */
  list(filter?: {
    readonly state?: InboxState;
    readonly sessionKey?: string;
    /** Only rows older than this one. */
    readonly before?: InboxId;
    /** Default 50. */
    readonly limit?: number;
  }): Promise<readonly InboxRow<T>[]>;
}
