import type { OutboundMediaKind } from "./capabilities.ts";
import type { Json } from "./json.ts";

/** As written, no markup. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** CommonMark with tables and strikethrough; only to channels whose `text.markup` is `markdown`. */
export interface MarkdownPart {
  readonly type: "markdown";
  readonly text: string;
}

/** A question with buttons; only to channels with `cards`. A click comes back as an `action` event. */
export interface ButtonsPart {
  readonly type: "buttons";
  readonly text: string;
  readonly buttons: readonly {
    /** Comes back as `actionId`. */
    readonly id: string;
    readonly label: string;
    readonly style?: "default" | "primary" | "danger";
    /** Comes back as `value`. */
    readonly value?: Json;
    /** A click opens a form with one field, whose text comes back with the click. Only where `cards.forms` is true. */
    readonly opensForm?: boolean;
  }[];
}

/**
 * An attachment; only to channels whose `sendMedia` names its kind. Everything in it survives JSON: the bytes are the
 * host's, who gives them out through `openMedia` of the send.
 */
export interface MediaPart {
  readonly type: "media";
  readonly kind: OutboundMediaKind;
  /** As people will see it: one line, without a path. */
  readonly name: string;
  readonly mimeType: string;
  /** In bytes; never 0. */
  readonly size: number;
  /** How the host finds the bytes; opaque to a channel. */
  readonly ref: Json;
  /** Marks `audio` as a voice message, if the platform distinguishes the two. */
  readonly voice?: boolean;
}

/** What the people of a conversation vote on; only to channels with `polls`. The platform counts the votes. */
export interface PollPart {
  readonly type: "poll";
  readonly question: string;
  /** Two or more. */
  readonly options: readonly string[];
  /** Whether each of them may vote for several. Default false. */
  readonly multiple?: boolean;
}

/** How people have voted. */
export interface PollResult {
  /** In the order of the options. */
  readonly options: readonly { readonly text: string; readonly votes: number }[];
}

/** One part is one platform message. A channel refuses a type it does not know with `unsupported`. */
export type OutboundPart = TextPart | MarkdownPart | ButtonsPart | MediaPart | PollPart;

/** What to send. The gateway has cut the text into parts by the channel's capabilities. */
export interface Outbound {
  readonly parts: readonly OutboundPart[];
  /** The platform's id of the message the first part answers. */
  readonly replyTo?: string;
}

export interface SendOptions {
  /**
   * The same for every try of this message: at most 20 characters of `[0-9A-Za-z_-]`, so that a part number still fits
   * if a platform allows 25. Part k is sent under a key derived from this one and k.
   */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** Index of the first part to send, where earlier ones have a receipt. Default 0. */
  readonly startAt?: number;
  /** Called as each part is out, before the next one is tried, so that a crash forgets nothing. */
  readonly onPart?: (part: PartReceipt) => void | Promise<void>;
  /**
   * Gives the bytes of a media part, from the start each time. A host that sends media parts brings it.
   * @throws ChannelError `not_found` where they are gone
   */
  readonly openMedia?: (part: MediaPart) => Promise<ReadableStream<Uint8Array>>;
}

/** One part that is out. */
export interface PartReceipt {
  /** Index in `parts`. */
  readonly index: number;
  /** The platform's id. */
  readonly messageId: string;
}

/** Every part that this call sent, in order. */
export interface Receipt {
  readonly parts: readonly PartReceipt[];
}

/** A send whose outcome is not known, to be looked up. */
export interface SendIntent<Address = unknown> {
  readonly to: Address;
  readonly idempotencyKey: string;
  /** Index of the part. */
  readonly part: number;
  readonly content: OutboundPart;
  readonly replyTo?: string;
  /** Milliseconds since the epoch when it was tried first. */
  readonly attemptedAt: number;
}

/**
 * `sent` with its id where it was found; `unknown` where looking was not possible: neither proves anything about a
 * platform that does not answer.
 */
export type Reconciled =
  | { readonly outcome: "sent"; readonly messageId: string }
  | { readonly outcome: "not_sent" }
  | { readonly outcome: "unknown" };

export interface DraftOptions {
  /**
   * Of the draft, as `SendOptions` has one: while the platform remembers it, a draft opened again under it is the same
   * message.
   */
  readonly idempotencyKey: string;
  readonly replyTo?: string;
  /** Once it fires, no further request of this draft begins: `update` does nothing, and what is under way ends. */
  readonly signal: AbortSignal;
  /** The message of a draft that was opened before, for instance by an earlier process: it is taken up. */
  readonly messageId?: string;
}

/** How a draft is finished: the parts after the first are sent as `send` would. */
export type FinalizeOptions = Pick<SendOptions, "idempotencyKey" | "onPart" | "openMedia">;

/**
 * A message that grows while the model writes. Calls are carried out one after the other, so that an older text never
 * replaces a newer one. What fails throws `ChannelError` and may be tried again: a draft that is shown the same text
 * twice is still one message.
 */
export interface Draft {
  /** The platform's id. Undefined until there is a message, which the first `update` makes. */
  readonly messageId: string | undefined;
  /**
   * Shows the whole text so far. Calls during another call coalesce; the latest counts. A text too long for one message
   * is cut, with an ellipsis. Does nothing after the end.
   */
  update(snapshot: string): Promise<void>;
  /**
   * The finished message: the draft becomes its first part, the others follow. Once.
   *
   * @throws ChannelError `unsupported` where the draft cannot become the first part, and what `send` throws, with a
   *   receipt once the first part stands
   */
  finalize(message: Outbound, options?: FinalizeOptions): Promise<Receipt>;
  /** Lets a preview live for another `preview.lifetimeMs`. For channels whose `preview.prolong` is true. */
  prolong?(): Promise<void>;
  /** Takes the draft back, as far as the platform allows. Does nothing after the end. */
  abort(): Promise<void>;
}
