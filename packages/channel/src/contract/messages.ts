import type { OutboundMediaKind } from "./capabilities.ts";
import type { Json } from "./json.ts";

/** Plain text without markup. */
interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** CommonMark with tables and strikethrough. Sent only to channels whose `text.markup` is `markdown`. */
interface MarkdownPart {
  readonly type: "markdown";
  readonly text: string;
}

/** A text with buttons. Sent only to channels with `cards`. A click causes an `action` event. */
export interface ButtonsPart {
  readonly type: "buttons";
  readonly text: string;
  readonly buttons: readonly {
    /** The `actionId` of the event. */
    readonly id: string;
    readonly label: string;
    readonly style?: "default" | "primary" | "danger";
    /** The `value` of the event. */
    readonly value?: Json;
    /**
     * True if a click opens a form with one field. The event contains its text. Only for channels with `cards.forms`.
     */
    readonly opensForm?: boolean;
  }[];
}

/**
 * An attachment. Sent only to channels whose `sendMedia` contains its type. All values survive JSON. The channel gets
 * the bytes from `openMedia`.
 */
export interface MediaPart {
  readonly type: "media";
  readonly kind: OutboundMediaKind;
  /** The file name shown to people: a single line without a path. */
  readonly name: string;
  readonly mimeType: string;
  /** In bytes. Never 0. */
  readonly size: number;
  /** Identifies the bytes for the host. Opaque to a channel. */
  readonly ref: Json;
  /** Sends `audio` as a voice message if the platform distinguishes voice messages from audio files. */
  readonly voice?: boolean;
}

/** A poll. Sent only to channels with `polls`. The platform counts the votes. */
export interface PollPart {
  readonly type: "poll";
  readonly question: string;
  /** At least two options. */
  readonly options: readonly string[];
  /** True if a person may vote for several options. Default: false. */
  readonly multiple?: boolean;
}

/** The votes of a poll. */
export interface PollResult {
  /** In the order of the poll. */
  readonly options: readonly { readonly text: string; readonly votes: number }[];
}

/** A part becomes one message on the platform. A channel rejects an unknown type with `unsupported`. */
export type OutboundPart = TextPart | MarkdownPart | ButtonsPart | MediaPart | PollPart;

/** A message. The gateway has split the text into parts according to the channel's capabilities. */
export interface Outbound {
  readonly parts: readonly OutboundPart[];
  /** The platform's id of the message that the first part replies to. */
  readonly replyTo?: string;
}

export interface SendOptions {
  /**
   * The same for every attempt. At most 20 characters of `[0-9A-Za-z_-]`, so that the key of a part fits into 25
   * characters. See `getPartKey`.
   */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  /** The index of the first part to send, if earlier parts have already been sent. Default: 0. */
  readonly startAt?: number;
  /** Called after each part and before the next one is sent, so that its receipt survives a crash. */
  readonly onPart?: (part: PartReceipt) => void | Promise<void>;
  /**
   * Opens the bytes of a media part from the beginning. Required if the message contains media parts.
   *
   * @throws ChannelError `not_found` if they no longer exist
   */
  readonly openMedia?: (part: MediaPart) => Promise<ReadableStream<Uint8Array>>;
}

/** The receipt of one part. */
export interface PartReceipt {
  /** The index of the part in `parts`. */
  readonly index: number;
  /** The platform's id of the message. */
  readonly messageId: string;
}

/** The parts that were sent by a call, in order. */
export interface Receipt {
  readonly parts: readonly PartReceipt[];
}

/** A part with an unknown outcome that must be looked up. */
export interface SendIntent<Address = unknown> {
  readonly to: Address;
  readonly idempotencyKey: string;
  /** The index of the part. */
  readonly part: number;
  readonly content: OutboundPart;
  readonly replyTo?: string;
  /** The time of the first attempt, in milliseconds since the epoch. */
  readonly attemptedAt: number;
}

/**
 * `sent`: the message was found. `not_sent`: a complete search did not find it. `unknown`: a search was impossible or
 * incomplete.
 */
export type ReconcileResult =
  | { readonly outcome: "sent"; readonly messageId: string }
  | { readonly outcome: "not_sent" }
  | { readonly outcome: "unknown" };

export interface DraftOptions {
  /**
   * As in `SendOptions`. While the platform remembers the key, a draft that is opened again with it is the same
   * message.
   */
  readonly idempotencyKey: string;
  readonly replyTo?: string;
  /** Once it fires, the draft starts no further requests: `update` does nothing, and a request in flight ends. */
  readonly signal: AbortSignal;
  /** The message of an existing draft, for instance from an earlier process. The draft continues it. */
  readonly messageId?: string;
}

/** Options for the parts after the first one. They are sent like parts of `send`. */
export type FinalizeOptions = Pick<SendOptions, "idempotencyKey" | "onPart" | "openMedia">;

/**
 * A message that grows while the model is writing. Calls run one at a time, so an older text never replaces a newer
 * one. A call that throws `ChannelError` can be repeated. The draft remains a single message.
 */
export interface Draft {
  /** The platform's id of the message. The first `update` creates the message. */
  readonly messageId: string | undefined;
  /**
   * Shows the entire text so far. Updates during another call are merged, and only the latest text is shown. A text
   * that is too long for one message is truncated with an ellipsis. Does nothing after the draft has ended.
   */
  update(snapshot: string): Promise<void>;
  /**
   * Turns the draft into the first part of the finished message and sends the other parts. Called once.
   *
   * @throws ChannelError `unsupported` if the draft cannot become the first part, and the errors of `send`, with a
   * receipt of the sent parts
   */
  finalize(message: Outbound, options?: FinalizeOptions): Promise<Receipt>;
  /** Extends a preview by `preview.lifetimeMs`. Only for channels with `preview.prolong`. */
  prolong?(): Promise<void>;
  /** Removes the draft if the platform allows it. Does nothing after the draft has ended. */
  abort(): Promise<void>;
}
