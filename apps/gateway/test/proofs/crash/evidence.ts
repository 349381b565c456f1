import type { QueueMode } from "@signalbox/lanes";
import type { Tag } from "./conversation.ts";

/** What the fake servers, the database and the disk say of a world that has come to rest. Plain data, to be judged. */
export interface Evidence {
  readonly mode: QueueMode;
  /** The clock of a process was turned: what it noted of the time says nothing. */
  readonly wasTurned: boolean;
  /** Every message whose event was acknowledged, in the order in which that happened. */
  readonly acknowledged: readonly Tag[];
  /** Messages of a group that speak to nobody, by their ids. */
  readonly unaddressed: readonly string[];
  /** Messages that were changed, and those that were deleted. */
  readonly edits: readonly Change[];
  readonly deletions: readonly Change[];
  /** Answers to events that were neither an acknowledgement nor a refusal to try later. */
  readonly odd: readonly string[];
  readonly inbox: readonly InboxFact[];
  /** What came back by itself: the messages that carry it. */
  readonly comingBack: readonly ComingBack[];
  readonly outbox: readonly OutboxFact[];
  /** Runs without an end. */
  readonly runsActive: number;
  /** What the database's own check found. */
  readonly damage: readonly string[];
  /** What the model was asked. */
  readonly requests: readonly { readonly body: unknown; readonly status: number; readonly text: string }[];
  /** What the bot sent, in order. */
  readonly posts: readonly Post[];
  /** How often a process ended, or a platform broke off its answer: each may have left a draft that nobody can find. */
  readonly breaks: number;
  /** The lines that commands have written, one for each time one ran. */
  readonly ran: readonly string[];
  /** Messages whose file is there. */
  readonly notes: ReadonlySet<string>;
  /** What every process wrote to its log, and what must stand in none of it nor in anything that went out. */
  readonly logs: readonly string[];
  readonly secrets: readonly string[];
}

/** What a person did to a message of theirs. */
export interface Change {
  readonly name: string;
  /** When the gateway had acknowledged it, in milliseconds since the epoch. */
  readonly at: number;
}

export interface InboxFact {
  readonly kind: string;
  readonly eventId: string;
  readonly messageId: string;
  readonly state: string;
  readonly rule?: string | undefined;
  /** How often it was replaced by a later version. */
  readonly revision: number;
  /** When it had its end, in milliseconds since the epoch. */
  readonly settledAt?: number | undefined;
}

/** What was scheduled and is due, a task of a sub-agent, or its report. */
export interface ComingBack extends Pick<InboxFact, "eventId" | "state" | "rule"> {
  readonly kind: "wake" | "task" | "report";
  /** The message that asked for it. */
  readonly name: string;
}

export interface OutboxFact {
  readonly state: string;
  readonly channel: string;
  /** The message it answers. */
  readonly replyTo?: string | undefined;
  /** The gateway says it, no agent. */
  readonly isNotice?: boolean | undefined;
  /** The key of the run's draft, if the platform had forgotten the key before the reply was sent. */
  readonly forgottenDraft?: string | undefined;
  /** The text of each part; undefined where a part is none. */
  readonly texts: readonly (string | undefined)[];
  readonly receipts: readonly { readonly part: number; readonly messageId: unknown }[];
}

/** A message of the bot at a platform. */
export interface Post {
  readonly channel: string;
  readonly chatId: string;
  readonly messageId: string;
  /** As it reads now. */
  readonly content: string;
  /** As it read before. */
  readonly earlier: readonly string[];
  /** The idempotency key it came under. */
  readonly key?: string | undefined;
  /** The message it answers. */
  readonly replyTo?: string | undefined;
  readonly deleted: boolean;
}
