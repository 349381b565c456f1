import type { MediaKind } from "./capabilities.ts";
import type { Json } from "./json.ts";

/** `direct`: two people; `group`: some; `channel`: a place of a community that anyone in it can read. */
export const conversationKinds = ["direct", "group", "channel"] as const;
export type ConversationKind = (typeof conversationKinds)[number];

export interface Conversation {
  /** The platform's id of the place, without the thread. */
  readonly id: string;
  readonly kind: ConversationKind;
  /** The thread within it. */
  readonly threadId?: string;
  /** The thread begins with this message: what was said in the conversation before belongs to it. */
  readonly beginsThread?: boolean;
  /** The address of the conversation around a thread that begins with this message. */
  readonly outerAddress?: string;
  /** The parent place, if threads and forum posts are places of their own. */
  readonly parentId?: string;
  /** Discord: the server. */
  readonly guildId?: string;
  /** Slack: the workspace; Feishu: the tenant. */
  readonly teamId?: string;
  /** The place's name, where the event carries it. Written by people: never trusted. */
  readonly subject?: string;
}

export interface Sender {
  /** The platform's immutable id; empty only if the platform does not say (a lifecycle event). */
  readonly id: string;
  /** Written by people: never trusted, and not always known; see `resolve` of the channel. */
  readonly name?: string;
  readonly isBot: boolean;
  /** This account itself. */
  readonly isSelf: boolean;
  /** Ids of roles within the guild. */
  readonly roles?: readonly string[];
  /** Respected only from channels whose senders the gateway itself has authenticated. Default there: the owner. */
  readonly authenticatedAs?: "owner" | "member";
}

/** Why the message concerns the bot; the channel knows by ids, never by a name. */
export const waysOfAddressing = ["dm", "mention", "reply", "none"] as const;
export type Addressed = (typeof waysOfAddressing)[number];

/** An attachment that was named but not fetched. */
export interface MediaRef {
  readonly kind: MediaKind;
  /** `application/octet-stream` where the platform does not say. */
  readonly mimeType: string;
  /** The sender's name for it: never part of a path. */
  readonly name?: string;
  /** In bytes. */
  readonly size?: number;
  /** What the channel's `fetchMedia` needs to find the attachment again, even after a restart. */
  readonly ref: Json;
}

/** What all inbound events have. Everything in them survives JSON. */
interface EventBase {
  /** The platform's id of the event, the same at every redelivery. */
  readonly eventId: string;
  readonly channel: string;
  readonly account: string;
  /**
   * The platform's id of the bot that received the event. Event ids are unique within it. Without it, they must be
   * unique within the account, even after another bot has taken the account's name.
   */
  readonly botId?: string;
  readonly conversation: Conversation;
  /** Where an answer goes, as the channel's codec writes it. */
  readonly address: string;
  readonly sender: Sender;
  readonly addressed: Addressed;
  /** Milliseconds since the epoch, by the platform's clock if it gives a time. */
  readonly timestamp: number;
  /** The platform's payload, only where the context asks for it. */
  readonly raw?: Json;
}

export interface Mention {
  readonly id: string;
  readonly name?: string;
  readonly isSelf: boolean;
}

/** How a message refers to another one. */
export const referenceKinds = ["reply", "thread", "forward"] as const;
export type ReferenceKind = (typeof referenceKinds)[number];

/**
 * Another message that a message refers to. Content of other people reaches the model only marked as such, so a channel
 * puts it here and never into the message's own text or media.
 */
export interface Reference {
  /**
   * `reply`: the message replies to it. `thread`: it is the first message of the message's thread. `forward`: the
   * message forwards or shares it.
   */
  readonly kind: ReferenceKind;
  /** The platform's id. Absent if the platform does not send it, as for most forwards. */
  readonly messageId?: string;
  /** The author, as far as known. */
  readonly sender?: {
    /** The platform's id of the person, bot or channel. */
    readonly id?: string;
    readonly name?: string;
    readonly isBot?: boolean;
    /** Written by this account itself. */
    readonly isSelf?: boolean;
  };
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
  /** Absent if it is unknown, for instance because the message was deleted. */
  readonly text?: string;
  readonly media?: readonly MediaRef[];
}

/** The content of a message, as sent or edited. */
export interface MessageBody {
  /**
   * With `\n` line ends, mentions written `@Name`, and without the bot's own mention at the front. Rich text is
   * written as Markdown.
   */
  readonly text: string;
  readonly media: readonly MediaRef[];
  /** The messages that this one refers to, at most {@link MAX_REFERENCES}. */
  readonly references?: readonly Reference[];
  /**
   * The sender passes on text that someone else wrote, for instance the payload of an inbound webhook. It orders
   * nothing. Platform channels report a forwarded message in `references` instead.
   */
  readonly forwarded?: { readonly from?: string };
  readonly mentions: readonly Mention[];
}

/** Further references are dropped. */
export const MAX_REFERENCES = 10;

/** Media of references that are fetched and shown. */
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

/** Options for how the model writes its answer, if the client sets any. */
export interface TurnSampling {
  readonly temperature?: number;
  /** Nucleus sampling. */
  readonly topP?: number;
  /** Asks for the same answer to the same words, as far as the model can. */
  readonly seed?: number;
  /** The longest answer, in tokens. */
  readonly maxOutputTokens?: number;
  /** The answer ends before any of these. */
  readonly stopSequences?: readonly string[];
  /** The answer is JSON, of this JSON Schema if one is given. */
  readonly json?: { readonly name: string; readonly schema?: Json; readonly strict?: boolean };
}

/** A picture that an event holds itself. */
export interface HeldPicture {
  readonly mimeType: string;
  /** In base64. */
  readonly data: string;
}

/**
 * A client's options for the turn. Respected only on channels whose clients have presented the gateway's own token
 * (`authenticatedByGateway`).
 */
export interface TurnRequest {
  /** The agent that answers. Absent: routing decides. */
  readonly agent?: string;
  /** To be heeded in this turn. */
  readonly instructions?: string;
  /**
   * Earlier turns of a conversation that the client keeps itself. They start a conversation that is new to the gateway.
   */
  readonly history?: readonly {
    readonly role: "user" | "assistant";
    readonly text: string;
    /** The pictures of a user's message; one that the event does not contain is fetched like an attachment. */
    readonly pictures?: readonly (HeldPicture | MediaRef)[];
  }[];
  readonly sampling?: TurnSampling;
  /** The text is only for the model, even if it begins with a slash. */
  readonly verbatim?: boolean;
  /** The message gets a run of its own: it waits for a current run, and neither steers nor interrupts it. */
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
  /** When the message was sent, in milliseconds since the epoch. */
  readonly sentAt?: number;
  /**
   * The platform changed the message, not its sender: for instance the current place of a live location. Such a version
   * never starts or steers a run.
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
  /** A Unicode emoji if there is one, else the platform's name for it. */
  readonly emoji: string;
  readonly added: boolean;
}

/** A button, a menu, a form of a message the bot sent. */
export interface ActionEvent extends EventBase {
  readonly type: "action";
  /** The message that held it. */
  readonly messageId?: string;
  /** What the bot put there; see `ButtonsPart`. */
  readonly actionId: string;
  readonly value?: Json;
  /** What was written into the form that the button opened. */
  readonly text?: string;
}

/** A command the platform itself knows (a slash command), not text that looks like one. */
export interface CommandEvent extends EventBase {
  readonly type: "command";
  /** Without the slash. */
  readonly name: string;
  readonly args: string;
}

export interface MemberEvent extends EventBase {
  readonly type: "member";
  readonly change: "joined" | "left";
  /** Who came or went; the sender is who did it. */
  readonly member: { readonly id: string; readonly name?: string; readonly isSelf: boolean };
}

/** Something about the account or the place: installed, removed, renamed, a gap in what was received. */
export interface LifecycleEvent extends EventBase {
  readonly type: "lifecycle";
  readonly what: "installed" | "removed" | "renamed" | "gap";
  readonly detail?: Json;
}

/** Everything that comes in, discriminated by `type`. */
export type InboundEvent =
  | MessageEvent
  | EditedEvent
  | DeletedEvent
  | ReactionEvent
  | ActionEvent
  | CommandEvent
  | MemberEvent
  | LifecycleEvent;

/**
 * `accepted`: committed, acknowledge the platform. `duplicate`: had it already, acknowledge. `rejected`: not taken
 * (full, shutting down): let the platform deliver again.
 */
export type EmitResult = "accepted" | "duplicate" | "rejected";
