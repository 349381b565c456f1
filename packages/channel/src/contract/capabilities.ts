/** The unit of a length. */
export type TextUnit = "utf16" | "bytes" | "codepoints";

/** How much text one part holds, and in which markup. */
export interface TextCapability {
  /** The longest text of one part, in `unit`. Absent: no limit. */
  readonly max?: number;
  readonly unit: TextUnit;
  /** `markdown`: the channel renders Markdown (translating it where the platform has a markup of its own). */
  readonly markup: "plain" | "markdown";
}

export const mediaKinds = ["image", "audio", "video", "file", "sticker"] as const;
export type MediaKind = (typeof mediaKinds)[number];

/** What can be sent as an attachment. */
export const outboundMediaKinds = ["image", "audio", "video", "file"] as const;
export type OutboundMediaKind = (typeof outboundMediaKinds)[number];

/** What a channel takes of one kind of attachment. */
export interface SendMediaLimit {
  /** The largest size in bytes. */
  readonly maxBytes: number;
  /** The types it takes as this kind, in lower case. Absent: any. Others can go as `file`, where that is taken. */
  readonly mimeTypes?: readonly string[];
}

/** A rate limit of the platform. The gateway enforces it; the channel only declares it. */
export interface RateLimit {
  /** What is counted together: everything an account sends, or one conversation. */
  readonly scope: "account" | "conversation";
  readonly perSecond: number;
  /** How many at once after a pause. */
  readonly burst: number;
}

/** How large a poll may be; lengths in UTF-16 units. */
export interface PollLimits {
  readonly options: number;
  readonly questionLength: number;
  readonly optionLength: number;
}

/**
 * What a channel can do, as plain data that can be read without loading a vendor's SDK. Each claimed capability
 * requires its method; `defineChannel` checks that by types, the conformance kit by calls.
 */
export interface Capabilities {
  readonly text: TextCapability;
  /** Attachments that `fetchMedia` returns. Absent: none. */
  readonly media?: {
    readonly kinds: readonly MediaKind[];
    /** The largest attachment in bytes. */
    readonly maxBytes: number;
    readonly maxPerMessage: number;
  };
  /** Attachments that `send` takes, by kind. Absent: none, and the gateway names them in the text. */
  readonly sendMedia?: { readonly [Kind in OutboundMediaKind]?: SendMediaLimit };
  /** `edit` works, and so does changing a draft. `windowMs`: only for this long after sending. */
  readonly edit?: { readonly ownOnly: boolean; readonly windowMs?: number };
  /** `remove` works. */
  readonly remove?: boolean;
  /** `native`: the platform streams; `draft`: a message edited as it grows. Both require `openDraft`. */
  readonly stream: "native" | "draft" | "none";
  /**
   * The lifetime of a draft that is a preview and not a message, and that the platform removes by itself. The gateway
   * prolongs it or opens another before that, ends it with `abort` and never finishes it: the answer is sent as a
   * message of its own. Absent: a draft is a message and stays.
   */
  readonly preview?: {
    /** Milliseconds after its last prolongation, or its start. Absent: until it is finished. */
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
  /** Interactive parts. Absent: buttons are written as numbered text by the gateway. */
  readonly cards?: {
    /** How many buttons one message may hold. */
    readonly buttons: number;
    /**
     * The longest value of a button as JSON, in bytes, that comes back with the click. The channel's own wrapping is
     * already subtracted; an id of up to 16 characters must also fit.
     */
    readonly callbackBytes: number;
    /**
     * Longest text above the buttons, and of an edit of such a message, in the unit of `text`. Absent: that of
     * `text`.
     */
    readonly textMax?: number;
    /** A button can open a form with one field of text. */
    readonly forms?: boolean;
  };
  /** The platform has polls. Absent: the gateway writes one as numbered text. */
  readonly polls?: PollLimits;
  /** The platform lists slash commands: the channel registers `context.commands` and emits `command` events. */
  readonly commands?: boolean;
  /** Clients read the conversation itself as it grows: replies are not sent; `send` is only for other messages. */
  readonly readsSession?: boolean;
  /** A client waits for a single answer: it sees nothing before it, and cannot be asked anything in between. */
  readonly awaitsSingleAnswer?: boolean;
  /** Clients have presented the gateway's own token: the sender is its holder, and chooses the agent. */
  readonly authenticatedByGateway?: boolean;
  /** How a doubtful send can be repeated without a second message. */
  readonly delivery: {
    /** The platform drops a second send with the same key, for `windowMs`. */
    readonly idempotencyKey?: { readonly windowMs: number };
    /** `reconcile` can look a sent message up. */
    readonly readback?: boolean;
  };
  readonly rate: readonly RateLimit[];
  /** How events arrive. `internal`: the host itself hands messages over. */
  readonly transports: readonly ("webhook" | "socket" | "poll" | "internal")[];
}
