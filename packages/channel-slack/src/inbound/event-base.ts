import {
  type ConversationKind,
  type EventBase,
  type EventFacts,
  eventBase,
  type InboundEvent,
  objectAt,
  type Payload,
  type Reference,
  type Sender,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import { isOwnMessage, type Self } from "../people.ts";

/** Facts that the event itself does not contain. */
export interface Facts extends EventFacts {
  readonly self: Self;
  /** Names of the mentioned users that could be looked up. */
  readonly names: ReadonlyMap<string, string>;
  readonly kind: ConversationKind;
  /** True if the bot has written in the message's thread. */
  readonly hasJoined: boolean;
  /** The first message of the thread, if this is a later message and the bot has not written in the thread. */
  readonly threadStart: Reference | undefined;
  /** True if a mention at the top level of a channel starts a thread. */
  readonly replyInThread: boolean;
  /** The app's slash command. */
  readonly command: string;
}

/** `ignored`: the event is irrelevant. `malformed`: the event cannot be read. */
export type Read = InboundEvent | "ignored" | "malformed";

/** Reads the author: a user or a bot. */
export function readSender(event: Payload, { self }: Facts): Sender {
  const user = textAt(event, "user");
  const bot = textAt(event, "bot_id");
  const isSelf = isOwnMessage(event, self);
  return { id: user ?? bot ?? "", isBot: bot !== undefined || isSelf, isSelf };
}

/** Returns Slack's event id, which is the same for every redelivery. */
export function getEventId(event: Payload, body: Payload): string {
  return textAt(body, "event_id") ?? `${String(event["type"])}:${textAt(event, "event_ts") ?? ""}`;
}

interface Common {
  readonly channel: string;
  readonly thread?: string | undefined;
  /** The `trigger_id` of the slash command. */
  readonly command?: string | undefined;
  readonly body: Payload;
  readonly sender: Sender;
  /** Event id. */
  readonly key: string;
  /** Payload that contains the time in `event_ts`. */
  readonly at: Payload;
}

export function createBase(
  { channel, thread, command, body, sender, key, at }: Common,
  facts: Facts,
): EventBase {
  return eventBase("slack", facts, {
    eventId: key,
    conversation: {
      id: channel,
      kind: facts.kind,
      teamId: getTeamId(body) ?? facts.self.teamId,
      threadId: thread,
    },
    address: addressCodec.encode({ channel, thread, command }),
    sender,
    timestamp: timeAt(at, "event_ts") ?? timeAt(at, "ts"),
    payload: body,
  });
}

/**
 * Returns the workspace through which the event was delivered. In shared channels, it may differ from the sender's own
 * workspace. In an organization, `team_id` may be missing.
 */
export function getTeamId(body: Payload): string | undefined {
  return (
    textAt(body, "context_team_id") ??
    textAt(body, "team_id") ??
    textAt(objectAt(body, "team"), "id") ??
    textAt(body, "context_enterprise_id") ??
    textAt(body, "enterprise_id")
  );
}
