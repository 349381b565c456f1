import {
  type Addressed,
  type Conversation,
  type ConversationKind,
  type InboundEvent,
  objectAt,
  type Payload,
  type Sender,
  textAt,
  timeAt,
  toJson,
} from "@signalbox/channel";
import { addressCodec, type SlackAddress } from "../address.ts";
import { isOwn, type Self } from "../people.ts";

/** What the event itself does not say. */
export interface Facts {
  readonly account: string;
  readonly self: Self;
  /** Names of people who are mentioned, as far as they could be found out. */
  readonly names: ReadonlyMap<string, string>;
  readonly kind: ConversationKind;
  /** The bot has spoken in the thread of the message. */
  readonly hasJoined: boolean;
  /** A mention at the top of a channel begins a thread. */
  readonly replyInThread: boolean;
  /** The app's slash command. */
  readonly command: string;
  /** Milliseconds since the epoch, for events without a time. */
  readonly now: number;
  /** Give the payload along. */
  readonly raw: boolean;
}

/** `ignored`: it concerns no bot; `malformed`: it cannot be read. */
export type Read = InboundEvent | "ignored" | "malformed";

/** Who did it: a person, or a bot. */
export function senderOf(event: Payload, { self }: Facts): Sender {
  const user = textAt(event, "user");
  const bot = textAt(event, "bot_id");
  const isSelf = isOwn(event, self);
  return { id: user ?? bot ?? "", isBot: bot !== undefined || isSelf, isSelf };
}

/** Slack's id of an event, which is the same at every redelivery. */
export function eventKey(event: Payload, body: Payload): string {
  return textAt(body, "event_id") ?? `${String(event["type"])}:${textAt(event, "event_ts") ?? ""}`;
}

interface Common {
  readonly channel: string;
  readonly thread?: string | undefined;
  /** The slash command that it is. */
  readonly command?: string | undefined;
  readonly body: Payload;
  readonly sender: Sender;
  /** The id of the event. */
  readonly key: string;
  /** What has its time under `event_ts`. */
  readonly at: Payload;
}

export function common(
  { channel, thread, command, body, sender, key, at }: Common,
  facts: Facts,
): Omit<InboundEvent, "type"> & { readonly addressed: Addressed; readonly conversation: Conversation } {
  const address: SlackAddress = {
    channel,
    ...(thread === undefined ? {} : { thread }),
    ...(command === undefined ? {} : { command }),
  };
  return {
    eventId: key,
    channel: "slack",
    account: facts.account,
    botId: facts.self.id,
    conversation: {
      id: channel,
      kind: facts.kind,
      teamId: teamOf(body) ?? facts.self.teamId,
      ...(thread === undefined ? {} : { threadId: thread }),
    },
    address: addressCodec.encode(address),
    sender,
    addressed: facts.kind === "direct" ? "dm" : "none",
    timestamp: timeAt(at, "event_ts") ?? timeAt(at, "ts") ?? facts.now,
    ...(facts.raw ? { raw: toJson(body) ?? null } : {}),
  };
}

/**
 * The workspace through which the bot was told, not the sender's own: people of other companies write in shared
 * channels. In an organisation with many workspaces `team_id` may be missing.
 */
export function teamOf(body: Payload): string | undefined {
  return (
    textAt(body, "context_team_id") ??
    textAt(body, "team_id") ??
    textAt(objectAt(body, "team"), "id") ??
    textAt(body, "context_enterprise_id") ??
    textAt(body, "enterprise_id")
  );
}
