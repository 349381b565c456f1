/** The unit of a length. */
export type TextUnit = "utf16" | "bytes" | "codepoints";

/** The maximum text length of one part, and its markup. */
export interface TextCapability {
  /** Maximum length in `unit`. Absent: no limit. */
  readonly max?: number;
  readonly unit: TextUnit;
  /** Maximum number of formatted ranges in one part: links, bold words, code and so on. Absent: no limit. */
  readonly maxMarks?: number;
  /** `markdown`: the channel accepts Markdown and converts it to the platform's markup. */
  readonly markup: "plain" | "markdown";
}

export const mediaKinds = ["image", "audio", "video", "file", "sticker"] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** The types of attachments that can be sent. */
export const outboundMediaKinds = ["image", "audio", "video", "file"] as const;
export type OutboundMediaKind = (typeof outboundMediaKinds)[number];

/** The limits for one type of attachment. */
export interface SendMediaLimit {
  /** In bytes. */
  readonly maxBytes: number;
  /**
   * The accepted MIME types in lower case. Absent: any. The gateway sends other types as `file` if the channel accepts
   * files.
   */
  readonly mimeTypes?: readonly string[];
}

/** A rate limit of the platform. The channel declares it, and the gateway enforces it. */
export interface RateLimit {
  /** `account`: counts everything that an account sends. `conversation`: has a separate count for each conversation. */
  readonly scope: "account" | "conversation";
  readonly perSecond: number;
  /** Number of requests allowed at once after a pause. */
  readonly burst: number;
}

/**
 * Survival of events if the process crashes between their arrival and `emit`.
 * - `acknowledged`: the platform redelivers an event until the channel has acknowledged it.
 * - `cursor`: the channel reads from a stored position, which it advances after `emit`.
 * - `handed_over`: the platform does not redeliver events. Events in flight during a crash are lost, and the channel
 * emits a `lifecycle` event `gap` at its next start.
 */
export type Intake = "acknowledged" | "cursor" | "handed_over";

/** The limits for a poll. Lengths are in UTF-16 code units. */
interface PollLimits {
  readonly options: number;
  readonly questionLength: number;
  readonly optionLength: number;
}

/**
 * The capabilities of a channel, as plain data that can be read without loading an SDK. Each capability requires a
 * method of the channel. `defineChannel` checks that with types, and the conformance suite with calls.
 */
export interface Capabilities {
  readonly text: TextCapability;
  /** The attachments that `fetchMedia` can fetch. Absent: none. */
  readonly media?: {
    readonly kinds: readonly MediaKind[];
    /** Maximum size of an attachment in bytes. */
    readonly maxBytes: number;
    readonly maxPerMessage: number;
  };
  /** The attachments that `send` accepts, by type. Absent: none. The gateway then mentions attachments in the text. */
  readonly sendMedia?: { readonly [Kind in OutboundMediaKind]?: SendMediaLimit };
  /** `edit` is supported, and drafts can be changed. `windowMs`: only for this long after sending. */
  readonly edit?: { readonly ownOnly: boolean; readonly windowMs?: number };
  /** `remove` is supported. */
  readonly remove?: boolean;
  /** `native`: the platform streams messages. `draft`: a message is edited as it grows. Both require `openDraft`. */
  readonly stream: "native" | "draft" | "none";
  /**
   * A draft is only a preview, which the platform removes after a while. The gateway extends it or opens another one in
   * time, ends it with `abort` and sends the answer as a separate message. Absent: a draft becomes the message.
   */
  readonly preview?: {
    /** Lifetime in milliseconds since the start or the last extension. Absent: until the draft ends. */
    readonly lifetimeMs?: number;
    /** Drafts have `prolong`. */
    readonly prolong?: boolean;
  };
  /** `native`: conversations have threads; `reply`: a message can quote another. */
  readonly threads: "native" | "reply" | "none";
  /** `react` is supported. */
  readonly reactions?: boolean;
  /** `typing` is supported. */
  readonly typing?: boolean;
  /** `openDirect` is supported. */
  readonly openDirect?: boolean;
  /** `history` is supported. */
  readonly history?: boolean;
  /** `resolve` is supported. */
  readonly resolve?: boolean;
  /** Messages with buttons. Absent: the gateway writes buttons as a numbered list. */
  readonly cards?: {
    /** Maximum number of buttons in one message. */
    readonly buttons: number;
    /**
     * Maximum size of a button's value as JSON, in bytes. The value must fit together with an id of 16 characters and
     * the channel's own wrapper.
     */
    readonly callbackBytes: number;
    /**
     * Maximum length of the text above the buttons, including edits, in the unit of `text`. Absent: the same as in
     * `text`.
     */
    readonly textMax?: number;
    /** A button can open a form with one text field. */
    readonly forms?: boolean;
  };
  /** The platform has polls. Absent: the gateway writes a poll as a numbered list. */
  readonly polls?: PollLimits;
  /** The platform lists slash commands: the channel registers `context.commands` and emits `command` events. */
  readonly commands?: boolean;
  /** Clients read replies from the session, so replies are not sent. `send` is used only for other messages. */
  readonly readsSession?: boolean;
  /** A client waits for a single answer. It does not get drafts and cannot receive a question during the run. */
  readonly awaitsSingleAnswer?: boolean;
  /** Clients have authenticated with the gateway's token. The sender can choose the agent. */
  readonly authenticatedByGateway?: boolean;
  /** Means to resend a message with an unknown outcome without creating a duplicate. */
  readonly delivery: {
    /** The platform ignores a second message with the same key for `windowMs`. */
    readonly idempotencyKey?: { readonly windowMs: number };
    /**
     * The same for drafts only, on a platform that has keys for drafts but not for other messages. Absent: the same as
     * `idempotencyKey`.
     */
    readonly draftKey?: { readonly windowMs: number };
    /**
     * `reconcile` can look up a sent message. With `recent`, it is reliable only for messages that this process sent,
     * so the host must record whether it tried to send a message before a crash.
     */
    readonly readback?: boolean | "recent";
  };
  readonly rate: readonly RateLimit[];
  /**
   * The platform accepts messages only as replies: within `windowMs` after a person's last message in the conversation,
   * and at most `max` replies per message from a person. Otherwise `send` fails with `permission`. Absent: the bot may
   * write to a conversation at any time.
   */
  readonly replies?: { readonly windowMs: number; readonly max?: number };
  /** Default: `acknowledged`. */
  readonly intake?: Intake;
  /** How events arrive. `internal`: the host itself submits messages. */
  readonly transports: readonly ("webhook" | "socket" | "poll" | "internal")[];
}
