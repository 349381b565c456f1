import type { MediaKind } from "./capabilities.ts";
import type { ChannelErrorCode } from "./errors.ts";
import type { Json } from "./json.ts";

/** `direct`: two participants. `group`: several participants. `channel`: visible to all members of a community. */
export const conversationKinds = ["direct", "group", "channel"] as const;
export type ConversationKind = (typeof conversationKinds)[number];

export interface Conversation {
  /** The platform's id of the conversation, without the thread. */
  readonly id: string;
  /** Other ids of the same conversation, for instance the id of the supergroup that a Telegram group became. */
  readonly otherIds?: readonly string[];
  readonly kind: ConversationKind;
  /** The thread in the conversation. */
  readonly threadId?: string;
  /** True if the message starts the thread. Earlier messages in the conversation are then its context. */
  readonly beginsThread?: boolean;
  /** The address of the conversation that contains a thread started by this message. */
  readonly outerAddress?: string;
  /** The parent conversation, if the platform treats threads and forum posts as conversations of their own. */
  readonly parentId?: string;
  /** Discord: the server. */
  readonly guildId?: string;
  /** Slack: the workspace; Feishu: the tenant. */
  readonly teamId?: string;
  /** The name of the conversation, if the event contains it. People choose it, so it is untrusted. */
  readonly subject?: string;
}

export interface Sender {
  /** The platform's immutable id. Empty only if the platform does not report it (in a lifecycle event). */
  readonly id: string;
  /** People choose it, so it is untrusted. It is not always known. See the channel's `resolve`. */
  readonly name?: string;
  readonly isBot: boolean;
  /** True if the sender is this account. */
  readonly isSelf: boolean;
  /** Ids of the sender's roles in the guild. */
  readonly roles?: readonly string[];
  /** Accepted only from channels whose senders the gateway has authenticated. Default there: `owner`. */
  readonly authenticatedAs?: "owner" | "member";
}

/** Form in which a message addresses the bot. Channels check ids, never names. */
export const addressedKinds = ["dm", "mention", "reply", "none"] as const;
export type Addressed = (typeof addressedKinds)[number];

/** An attachment that has not been fetched yet. */
export interface MediaRef {
  readonly kind: MediaKind;
  /** `application/octet-stream` if the platform reports no type. */
  readonly mimeType: string;
  /** The file name that the sender chose. Never use it as part of a path. */
  readonly name?: string;
  /** In bytes. */
  readonly size?: number;
  /** Identifies the attachment for `fetchMedia`, even after a restart. */
  readonly ref: Json;
}

/** The fields of every inbound event. All values survive JSON. */
interface EventBase {
  /** The platform's id of the event. It stays the same when the event is redelivered. */
  readonly eventId: string;
  readonly channel: string;
  readonly account: string;
  /**
   * The platform's id of the bot that received the event. Event ids are unique per bot. Without it, they must be unique
   * per account, even if another bot uses the account later.
   */
  readonly botId?: string;
  readonly conversation: Conversation;
  /** The encoded address for replies. */
  readonly address: string;
  readonly sender: Sender;
  readonly addressed: Addressed;
  /** Milliseconds since the epoch, according to the platform's clock if the event contains a time. */
  readonly timestamp: number;
  /** The platform's payload, only if the context requests it. */
  readonly raw?: Json;
}

export interface Mention {
  readonly id: string;
  readonly name?: string;
  readonly isSelf: boolean;
}

/** The types of references from one message to another. */
export const referenceKinds = ["reply", "thread", "forward"] as const;
export type ReferenceKind = (typeof referenceKinds)[number];

/**
 * Another message that a message refers to. Content from other people must be marked as such for the model, so a
 * channel puts it here and never into the message's own text or media.
 */
export interface Reference {
  /**
   * `reply`: the message replies to it. `thread`: it is the first message of the message's thread. `forward`: the
   * message forwards or shares it.
   */
  readonly kind: ReferenceKind;
  /** The platform's id. Absent if the platform does not send it, as with most forwards. */
  readonly messageId?: string;
  /** The author, if known. */
  readonly sender?: {
    /** The platform's id of the person, bot or channel. */
    readonly id?: string;
    readonly name?: string;
    readonly isBot?: boolean;
    /** True if this account wrote the message. */
    readonly isSelf?: boolean;
  };
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
  /** Absent if the text is unknown, for instance because the message was deleted. */
  readonly text?: string;
  readonly media?: readonly MediaRef[];
}

/** The content of a message, as sent or edited. */
export interface MessageBody {
  /**
   * Text with `\n` line endings and mentions as `@Name`, but without a leading mention of the bot. Rich text is
   * converted to Markdown.
   */
  readonly text: string;
  readonly media: readonly MediaRef[];
  /** The messages that this one refers to, at most {@link MAX_REFERENCES}. */
  readonly references?: readonly Reference[];
  /**
   * Set if the sender passes on text from someone else, for instance the payload of an inbound webhook. Such text must
   * not give instructions. Platform channels report a forwarded message in `references` instead.
   */
  readonly forwarded?: { readonly from?: string };
  readonly mentions: readonly Mention[];
}

/** Maximum number of references. Further ones are dropped. */
export const MAX_REFERENCES = 10;

/** Maximum number of media from references that are fetched and shown. */
const MAX_REFERENCED_MEDIA = 10;

/** Returns the media of a message, followed by the media of the messages that it refers to. */
export function getAllMedia({
  media,
  references = [],
}: Pick<MessageBody, "media" | "references">): readonly MediaRef[] {
  const referenced = references.flatMap((reference) => reference.media ?? []);
  return [...media, ...referenced.slice(0, MAX_REFERENCED_MEDIA)];
}

/** Returns the message that this one replies to, if any. */
export function getRepliedTo({ references = [] }: Pick<MessageBody, "references">): Reference | undefined {
  return references.find(({ kind }) => kind === "reply");
}

/** Sampling parameters that a client has set for the model. */
export interface TurnSampling {
  readonly temperature?: number;
  /** Nucleus sampling. */
  readonly topP?: number;
  /** Requests deterministic sampling, if the model supports it. */
  readonly seed?: number;
  /** Maximum length of the answer in tokens. */
  readonly maxOutputTokens?: number;
  /** Sequences that end the answer. */
  readonly stopSequences?: readonly string[];
  /** Requires JSON as the answer. It must match this JSON Schema, if there is one. */
  readonly json?: { readonly name: string; readonly schema?: Json; readonly strict?: boolean };
}

/** An image whose bytes are part of the event. */
export interface InlineImage {
  readonly mimeType: string;
  /** The bytes in base64. */
  readonly data: string;
}

/** A client's options for the run. Accepted only from channels with `authenticatedByGateway`. */
export interface TurnRequest {
  /** The agent to run. Absent: routing decides. */
  readonly agent?: string;
  /** Additional instructions for this run. */
  readonly instructions?: string;
  /** Earlier messages of a conversation that the client stores itself. Used if the session is new. */
  readonly history?: readonly {
    readonly role: "user" | "assistant";
    readonly text: string;
    /** Images in a user's message. A `MediaRef` is fetched like an attachment. */
    readonly images?: readonly (InlineImage | MediaRef)[];
  }[];
  readonly sampling?: TurnSampling;
  /** True if the text goes to the model even if it starts with a slash. */
  readonly verbatim?: boolean;
  /** True if the message gets a separate run. It waits for the current run and neither steers nor interrupts it. */
  readonly alone?: boolean;
}

export interface MessageEvent extends EventBase, MessageBody {
  readonly type: "message";
  readonly messageId: string;
  readonly turn?: TurnRequest;
}

/** The new version of a message. `timestamp` is the time of the edit. */
export interface EditedEvent extends EventBase, MessageBody {
  readonly type: "edited";
  readonly messageId: string;
  /** The time at which the message was sent, in milliseconds since the epoch. */
  readonly sentAt?: number;
  /**
   * True if the platform and not the sender changed the message, for instance with the current position of a live
   * location. Such a version never starts or steers a run.
   */
  readonly automatic?: boolean;
}

export interface DeletedEvent extends EventBase {
  readonly type: "deleted";
  readonly messageId: string;
}

export interface ReactionEvent extends EventBase {
  readonly type: "reaction";
  readonly messageId: string;
  /** A Unicode emoji, or the platform's name of an emoji that is not in Unicode. */
  readonly emoji: string;
  readonly added: boolean;
}

/** A person clicked a button, chose from a menu or submitted a form in a message from the bot. */
export interface ActionEvent extends EventBase {
  readonly type: "action";
  /** The message with the button. */
  readonly messageId?: string;
  /** The id of the button. See `ButtonsPart`. */
  readonly actionId: string;
  readonly value?: Json;
  /** The text entered into the form that the button opened. */
  readonly text?: string;
}

/** A slash command of the platform, as opposed to text that looks like one. */
export interface CommandEvent extends EventBase {
  readonly type: "command";
  /** The name without the slash. */
  readonly name: string;
  readonly args: string;
}

interface MemberEvent extends EventBase {
  readonly type: "member";
  readonly change: "joined" | "left";
  /** The person who joined or left. The sender is the person who caused it. */
  readonly member: { readonly id: string; readonly name?: string; readonly isSelf: boolean };
}

/**
 * The platform reports that a message was not delivered although `send` returned a receipt for it. The sender of the
 * event is the bot. Reports about delivered and read messages are not emitted.
 */
export interface DeliveryEvent extends EventBase {
  readonly type: "delivery";
  /** The id in the receipt of the part. */
  readonly messageId: string;
  readonly state: "failed";
  /** The platform's explanation, for people. */
  readonly reason: string;
  /**
   * The code with which `send` would have failed, for instance `too_large`. The host posts a notice in the conversation
   * only if the code shows that the content was rejected. Absent: the reason is unknown.
   */
  readonly code?: ChannelErrorCode;
}

/**
 * A change of the account or the conversation. `gap`: events between the times `from` and `to` in `detail`, in
 * milliseconds since the epoch, may have been lost.
 */
export interface LifecycleEvent extends EventBase {
  readonly type: "lifecycle";
  readonly what: "installed" | "removed" | "renamed" | "gap";
  readonly detail?: Json;
}

/** An event from the platform. */
export type InboundEvent =
  | MessageEvent
  | EditedEvent
  | DeletedEvent
  | ReactionEvent
  | ActionEvent
  | CommandEvent
  | MemberEvent
  | DeliveryEvent
  | LifecycleEvent;

/**
 * `accepted`: the event is stored; acknowledge it. `duplicate`: it was already stored; acknowledge it. `rejected`: the
 * host cannot store it now, for instance because it is shutting down; let the platform redeliver it.
 */
export type EmitResult = "accepted" | "duplicate" | "rejected";
