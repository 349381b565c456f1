/** The unit of a length. */
export type TextUnit = "utf16" | "bytes" | "codepoints";

/** The longest text of one part, and its markup. */
export interface TextCapability {
  /** The limit in `unit`. Absent: no limit. */
  readonly max?: number;
  readonly unit: TextUnit;
  /** Maximum number of formatted ranges in one part: links, bold words, code and so on. Absent: no limit. */
  readonly maxMarks?: number;
  /** `markdown`: the channel accepts Markdown and translates it into the platform's markup. */
  readonly markup: "plain" | "markdown";
}

export const mediaKinds = ["image", "audio", "video", "file", "sticker"] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** The kinds of attachments that can be sent. */
export const outboundMediaKinds = ["image", "audio", "video", "file"] as const;
export type OutboundMediaKind = (typeof outboundMediaKinds)[number];

/** The limits for one kind of attachment. */
export interface SendMediaLimit {
  /** In bytes. */
  readonly maxBytes: number;
  /** The accepted types in lower case. Absent: any. The gateway sends others as `file` if the channel accepts files. */
  readonly mimeTypes?: readonly string[];
}

/** A rate limit of the platform. The channel declares it, the gateway enforces it. */
export interface RateLimit {
  /** `account`: counts everything that an account sends. `conversation`: counts each conversation separately. */
  readonly scope: "account" | "conversation";
  readonly perSecond: number;
  /** The number of requests allowed at once after a pause. */
  readonly burst: number;
}

/**
 * The way in which events survive a crash of the process between their arrival and `emit`.
 * - `acknowledged`: the platform delivers an event again until the channel has acknowledged it.
 * - `cursor`: the channel reads from a stored position, which it advances after `emit`.
 * - `handed_over`: the platform forgets an event once it has handed it over. What was in flight at a crash is lost. The
 *   channel emits a `lifecycle` event `gap` at its next start.
 */
export type Intake = "acknowledged" | "cursor" | "handed_over";

/** The limits for a poll. Lengths are in UTF-16 units. */
interface PollLimits {
  readonly options: number;
  readonly questionLength: number;
  readonly optionLength: number;
}

/**
 * The capabilities of a channel, as plain data that can be read without loading an SDK. Each capability requires a
 * method of the channel: `defineChannel` checks that by types, the conformance suite by calls.
 */
export interface Capabilities {
  readonly text: TextCapability;
  /** The attachments that `fetchMedia` can fetch. Absent: none. */
  readonly media?: {
    readonly kinds: readonly MediaKind[];
    /** The size limit of an attachment. */
    readonly maxBytes: number;
    readonly maxPerMessage: number;
  };
  /** The attachments that `send` accepts, by kind. Absent: none; the gateway then mentions them in the text. */
  readonly sendMedia?: { readonly [Kind in OutboundMediaKind]?: SendMediaLimit };
  /** `edit` works, and drafts can be changed. `windowMs`: only for this long after sending. */
  readonly edit?: { readonly ownOnly: boolean; readonly windowMs?: number };
  /** `remove` works. */
  readonly remove?: boolean;
  /** `native`: the platform streams messages. `draft`: a message is edited as it grows. Both require `openDraft`. */
  readonly stream: "native" | "draft" | "none";
  /**
   * A draft is only a preview, which the platform removes by itself. The gateway prolongs it or opens another one in
   * time, ends it with `abort` and sends the answer as a separate message. Absent: a draft becomes the message.
   */
  readonly preview?: {
    /** The lifetime since the start or the last prolongation. Absent: until the draft ends. */
    readonly lifetimeMs?: number;
    /** Drafts have `prolong`. */
    readonly prolong?: boolean;
  };
  /** `native`: conversations have threads; `reply`: a message can quote another. */
  readonly threads: "native" | "reply" | "none";
  /** `react` works. */
  readonly reactions?: boolean;
  /** `typing` works. */
  readonly typing?: boolean;
  /** `openDirect` works. */
  readonly openDirect?: boolean;
  /** `history` works. */
  readonly history?: boolean;
  /** `resolve` works. */
  readonly resolve?: boolean;
  /** Messages with buttons. Absent: the gateway writes buttons as a numbered list. */
  readonly cards?: {
    /** The number of buttons in one message. */
    readonly buttons: number;
    /**
     * The longest value of a button as JSON, in bytes. It must fit together with an id of 16 characters and the
     * channel's own wrapping.
     */
    readonly callbackBytes: number;
    /** The longest text above the buttons, also of an edit, in the unit of `text`. Absent: as in `text`. */
    readonly textMax?: number;
    /** A button can open a form with one text field. */
    readonly forms?: boolean;
  };
  /** The platform has polls. Absent: the gateway writes a poll as a numbered list. */
  readonly polls?: PollLimits;
  /** The platform lists slash commands: the channel registers `context.commands` and emits `command` events. */
  readonly commands?: boolean;
  /** Clients read replies from the session, so replies are not sent. `send` is only for other messages. */
  readonly readsSession?: boolean;
  /** A client waits for a single answer. It sees no drafts and cannot receive a question during the run. */
  readonly awaitsSingleAnswer?: boolean;
  /** Clients have authenticated with the gateway's token. The sender may choose the agent. */
  readonly authenticatedByGateway?: boolean;
  /** Ways to send a message with an unknown outcome again without a duplicate. */
  readonly delivery: {
    /** The platform ignores a second message with the same key for `windowMs`. */
    readonly idempotencyKey?: { readonly windowMs: number };
    /**
     * `reconcile` can look up a sent message. `recent`: it finds out for certain only about messages that this process
     * sent, so the host must not leave open whether it tried to send a message before a crash.
     */
    readonly readback?: boolean | "recent";
  };
  readonly rate: readonly RateLimit[];
  /**
   * The platform accepts messages only as replies: within `windowMs` after a person's last message in the
   * conversation, and at most `max` of them for each message of a person. Otherwise `send` fails with `permission`.
   * Absent: the bot may write to a conversation at any time.
   */
  readonly replies?: { readonly windowMs: number; readonly max?: number };
  /** Default: `acknowledged`. */
  readonly intake?: Intake;
  /** Ways in which events arrive. `internal`: the host itself submits messages. */
  readonly transports: readonly ("webhook" | "socket" | "poll" | "internal")[];
}
