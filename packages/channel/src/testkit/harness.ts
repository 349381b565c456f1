import type { OutboundMediaKind } from "../contract/capabilities.ts";
import type { Channel } from "../contract/definition.ts";
import type { MediaRef, ReferenceKind } from "../contract/events.ts";
import type { Json } from "../contract/json.ts";

/** The fake platform and samples that a channel package provides for the conformance suite. */
export interface ChannelHarness<Address> {
  /** Starts a fake platform. Called for each check. */
  open(): Promise<Platform<Address>>;
  /** Sample addresses, including unusual ones. */
  readonly addresses: readonly Address[];
  /** The file URL of the module that exports the definition, and the packages that it must not load when imported. */
  readonly entry?: { readonly url: string; readonly sdk: readonly string[] };
  /** False if this account is the only bot on the platform, so that every other sender is a person. Default: true. */
  readonly hasBots?: boolean;
  /** Recorded payloads from the platform and the expected events. */
  readonly recorded?: readonly RecordedPayload[];
}

/** A recorded payload. */
export interface RecordedPayload {
  readonly name: string;
  readonly payload: Json;
  /** Fields of the expected events, in order. Empty if the channel must ignore the payload. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/** A message that the fake platform delivers. */
export interface Delivery {
  readonly eventId: string;
  readonly messageId: string;
  readonly text: string;
  /**
   * `person`: from a person, in a direct conversation. `self` or `bot`: from the bot itself or another bot, in a group.
   */
  readonly from: "person" | "self" | "bot";
}

/**
 * - `rate`: a rate limit without a time. `rate_until`: a rate limit with 3 seconds.
 * - `server`: an internal error.
 * - `lost_response`: the request is carried out, but the response is lost.
 * - `silent`: the request is carried out, but the platform never responds and keeps the connection open.
 */
export type Failure = "rate" | "rate_until" | "server" | "lost_response" | "silent";

/**
 * The type of a forged request. `missing` and `wrong`: the signature. `tampered`: the body was changed. `stale` and
 * `ahead`: the signature is valid, but its timestamp is too old or too far in the future.
 */
export type Forgery = "missing" | "wrong" | "tampered" | "stale" | "ahead";

/** An attachment from a person. */
interface AttachedMedia {
  readonly ref: MediaRef;
  readonly content: Uint8Array;
  /** Replaces the platform's response to download requests. */
  answerWith?(answer: () => Response): void;
  /**
   * Creates references that lead to another URL, either directly or through an id for which the platform returns the
   * URL. If references contain no URLs, the URL replaces an id or key.
   */
  leadingTo?(address: string): readonly Json[];
}

/** An attachment from the bot. */
export interface SentMedia {
  readonly messageId: string;
  readonly kind: OutboundMediaKind;
  /** Undefined if the platform stores no name. */
  readonly name?: string;
  readonly content: Uint8Array;
}

/** A poll from the bot. */
export interface SentPoll {
  readonly messageId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
}

/** A person clicks a button or chooses from a menu in a message from the bot. */
export interface Choice {
  /** The same for every redelivery. */
  readonly eventId: string;
  /** The id of the message that `send` returned. */
  readonly messageId: string;
  readonly label: string;
  /** The text that the person enters into the form that opens. */
  readonly text?: string;
}

/** An earlier message of another person, with an image if the channel has `media`. */
export interface ReferencedMessage {
  readonly messageId: string;
  readonly text: string;
}

/**
 * Delivers a message that refers to another one. If the platform sends no text with a reference of this kind, the text
 * of the delivery is left out.
 */
type DeliverReference<Address> = (
  channel: Channel<Address>,
  delivery: Delivery,
  about: ReferencedMessage,
) => Promise<{
  readonly isAcknowledged: boolean;
  /** The reference is a text about several messages, without an author and media. Default: false. */
  readonly isDigest?: boolean;
}>;

/** A person uses a slash command. */
export interface UsedCommand {
  readonly eventId: string;
  /** The name without the slash. */
  readonly name: string;
  readonly args: string;
}

/** A running fake platform. */
export interface Platform<Address> {
  /** The settings of an account, before validation. */
  readonly config: unknown;
  /** The secrets in the settings, which must not appear in errors and logs. */
  readonly secrets: readonly string[];
  /** A conversation that the bot may write to. */
  readonly to: Address;
  /** The bot's messages on the platform, in order, with their current text. */
  sent(): readonly { readonly messageId: string; readonly text: string }[];
  /**
   * All texts that drafts have shown so far, in order, including those of removed messages. For channels with drafts.
   */
  drafted?(): readonly string[];
  /** A message in `to` that drafts reply to, for platforms on which a draft must be a reply. */
  readonly draftReplyTo?: string;
  /** Makes all sent and shown messages older by `ms` milliseconds. For channels with an edit window or previews. */
  age?(ms: number): void;
  /**
   * The channel's id for the message of a delivery, if the platform's ids are unique only within a conversation.
   * Default: the id of the delivery.
   */
  messageId?(delivery: Delivery): string;
  /**
   * Delivers a message like the platform. Returns whether the channel acknowledged it, or for the intake `handed_over`
   * whether the channel was connected. In that case, the suite itself observes whether `emit` accepts the message.
   */
  deliver(channel: Channel<Address>, delivery: Delivery): Promise<boolean>;
  /** Delivers a message that refers to another one, for each kind that the platform has. For channels with threads. */
  readonly refer?: Partial<Readonly<Record<ReferenceKind, DeliverReference<Address>>>>;
  /** A person writes a message while the channel is offline. */
  miss?(delivery: Delivery): Promise<void>;
  /** The sender of deliveries. For channels with `openDirect` or `resolve`. */
  readonly person?: { readonly id: string; readonly name?: string };
  /** The bot's reactions to a message, under the platform's names. For channels with `reactions`. */
  reactions?(messageId: string): readonly string[];
  /** The labels of the buttons in a message from the bot, in order. For channels with `cards`. */
  choices?(messageId: string): readonly string[];
  /** Delivers a click. Returns whether the channel acknowledged it. For channels with `cards`. */
  choose?(channel: Channel<Address>, choice: Choice): Promise<boolean>;
  /** The names of the commands that the bot has registered. For channels with `commands`. */
  commands?(): readonly string[];
  /** Delivers a command. Returns whether the channel acknowledged it. For channels with `commands`. */
  command?(channel: Channel<Address>, used: UsedCommand): Promise<boolean>;
  /** Delivers a recorded payload. Returns whether the channel acknowledged it. */
  deliverRecorded?(channel: Channel<Address>, payload: Json): Promise<boolean>;
  /**
   * Sends a forged delivery. Returns the HTTP status, or `undefined` for `tampered`, `stale` and `ahead` if the
   * platform sends a shared secret instead of a signature.
   */
  forge?(channel: Channel<Address>, how: Forgery): Promise<number | undefined>;
  /** Sends the platform's challenge. Returns whether the channel responded correctly. */
  challenge?(channel: Channel<Address>): Promise<boolean>;
  /** Makes the next send fail. */
  fail?(how: Failure): void;
  /** Simulates an outage: the platform accepts no requests. */
  setAway?(away: boolean): void;
  /** Rejects the credentials from now on. */
  revoke?(): void;
  /** For channels with `media`. */
  readonly media?: AttachedMedia;
  /** The attachments that the bot has sent, in order, as people would download them. */
  sentMedia?(): readonly SentMedia[];
  /** The polls that the bot has sent, in order. For channels with polls. */
  polls?(): readonly SentPoll[];
  /** Adds votes to a poll, with a count for each option. For channels with polls. */
  vote?(messageId: string, counts: readonly number[]): void;
  close(): Promise<void>;
}
