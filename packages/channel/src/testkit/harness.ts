import type { OutboundMediaKind } from "../contract/capabilities.ts";
import type { Channel } from "../contract/definition.ts";
import type { MediaRef } from "../contract/events.ts";
import type { Json } from "../contract/json.ts";

/** What a channel package provides for the conformance kit. */
export interface ChannelHarness<Address> {
  /** Starts a stand-in for the platform; a new one for each test. */
  open(): Promise<Platform<Address>>;
  /** Some addresses, odd ones among them. */
  readonly addresses: readonly Address[];
  /**
   * The module that exports the definition, as a file URL, and the packages that loading it must not load. Checked in
   * a process of its own.
   */
  readonly entry?: { readonly url: string; readonly sdk: readonly string[] };
  /** Recorded payloads of the platform and what they mean. */
  readonly recorded?: readonly Recorded[];
}

/** One recorded payload. */
export interface Recorded {
  readonly name: string;
  readonly payload: Json;
  /** What each event holds at least, in order; none for what is ignored. */
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/** A message that the stand-in delivers. */
export interface Delivery {
  readonly eventId: string;
  readonly messageId: string;
  readonly text: string;
  /** `person`: in a direct conversation; `self`, `bot`: the bot itself or another one, in a group. */
  readonly from: "person" | "self" | "bot";
}

/**
 * - `rate`: refused for being too many, without a time; `rate-until`: with 3 seconds.
 * - `server`: an internal error.
 * - `lost-answer`: done, but the answer never arrives.
 */
export type Failure = "rate" | "rate-until" | "server" | "lost-answer";

/** How a request pretends to be the platform's; `stale` and `ahead` were signed long ago, and by a clock far ahead. */
export type Forgery = "missing" | "wrong" | "tampered" | "stale" | "ahead";

/** An attachment that a person sent. */
export interface AttachedMedia {
  readonly ref: MediaRef;
  readonly content: Uint8Array;
  /** Answers all further requests to the platform for the attachment's bytes. */
  answerWith?(answer: () => Response): void;
  /**
   * What its `ref.ref` is where it has this address in place of the platform's, and where the platform, asked for it,
   * gives this address. An id or a key takes the address as its text, where references have no addresses.
   */
  leadingTo?(address: string): readonly Json[];
}

/** An attachment that the bot sent. */
export interface SentMedia {
  readonly messageId: string;
  readonly kind: OutboundMediaKind;
  /** Undefined where the platform keeps none. */
  readonly name?: string;
  readonly content: Uint8Array;
}

/** A poll that the bot sent. */
export interface SentPoll {
  readonly messageId: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly multiple: boolean;
}

/** A person takes one of the choices that a message of the bot offers: clicks a button, or picks from a menu. */
export interface Choice {
  /** The same where it is delivered again. */
  readonly eventId: string;
  /** The message, as `send` has called it. */
  readonly messageId: string;
  readonly label: string;
  /** What the person writes into the form that opens at it. */
  readonly text?: string;
}

/** A person uses a slash command. */
export interface UsedCommand {
  readonly eventId: string;
  /** Without the slash. */
  readonly name: string;
  readonly args: string;
}

/** A stand-in for the platform, running. */
export interface Platform<Address> {
  /** Settings of an account, before the schema. */
  readonly config: unknown;
  /** Texts of the settings that must show up nowhere. */
  readonly secrets: readonly string[];
  /** A conversation the bot may write to. */
  readonly to: Address;
  /** What the platform has of the bot's messages, in order, with their text as it would be shown now. */
  sent(): readonly { readonly messageId: string; readonly text: string }[];
  /**
   * Every text that drafts have shown so far, in order, even if the message is gone by now. For channels with drafts.
   */
  drafted?(): readonly string[];
  /** Makes everything that was sent or shown this much older. For channels with an edit window, or previews. */
  age?(ms: number): void;
  /**
   * What the channel calls the message of a delivery, where the platform's own ids hold within a conversation only.
   * Default: the delivery's id.
   */
  messageId?(delivery: Delivery): string;
  /** Delivers as the platform does. Resolves with whether the channel acknowledged it. */
  deliver(channel: Channel<Address>, delivery: Delivery): Promise<boolean>;
  /** A person writes while nothing reaches the channel. */
  miss?(delivery: Delivery): Promise<void>;
  /** The person that deliveries come from. For channels with `openDirect` or `resolve`. */
  readonly person?: { readonly id: string; readonly name?: string };
  /** The bot's own reactions on a message, in the platform's words. For channels with `reactions`. */
  reactions?(messageId: string): readonly string[];
  /** The labels of what a message of the bot offers, in order. For channels with `cards`. */
  choices?(messageId: string): readonly string[];
  /** Resolves with whether the channel acknowledged what it was told of it. For channels with `cards`. */
  choose?(channel: Channel<Address>, choice: Choice): Promise<boolean>;
  /** The names of the bot's commands that the platform lists. For channels with `commands`. */
  commands?(): readonly string[];
  /** Resolves with whether the channel acknowledged it. For channels with `commands`. */
  command?(channel: Channel<Address>, used: UsedCommand): Promise<boolean>;
  /** Delivers a recorded payload; `how` adds fields the channel cannot know. */
  deliverRecorded?(channel: Channel<Address>, payload: Json): Promise<boolean>;
  /**
   * Sends a forged delivery. Resolves with the HTTP status; undefined for `tampered`, `stale` and `ahead` where the
   * platform sends a shared secret and signs nothing.
   */
  forge?(channel: Channel<Address>, how: Forgery): Promise<number | undefined>;
  /** Asks the channel to prove itself, where the platform does. Resolves with whether it did. */
  challenge?(channel: Channel<Address>): Promise<boolean>;
  /** Makes the next send fail. */
  fail?(how: Failure): void;
  /** While it is away, the platform takes and answers nothing. */
  setAway?(away: boolean): void;
  /** From now on the credentials are refused. */
  revoke?(): void;
  /** For channels with `media`. */
  readonly media?: AttachedMedia;
  /** The attachments the platform has of the bot, in order, as a reader would get them. */
  sentMedia?(): readonly SentMedia[];
  /** The polls the platform has of the bot, in order. For channels with polls. */
  polls?(): readonly SentPoll[];
  /** People vote in one of them, this often for each option. For channels with polls. */
  vote?(messageId: string, counts: readonly number[]): void;
  close(): Promise<void>;
}
