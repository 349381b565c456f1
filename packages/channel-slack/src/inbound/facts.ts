import {
  type ChannelContext,
  deadline,
  eventFacts,
  isChannelError,
  objectAt,
  type Payload,
  type Reference,
  textAt,
} from "@signalbox/channel";
import type { SlackConfig } from "../config.ts";
import type { Conversations } from "../conversations.ts";
import type { History } from "../history.ts";
import type { Threads } from "../joined-threads.ts";
import { limits } from "../limits.ts";
import type { People, Self } from "../people.ts";
import { findMentionedUsers } from "./content.ts";
import type { Envelope } from "./envelope.ts";
import type { Facts } from "./event-base.ts";
import { getChannelId } from "./events.ts";
import { lookUpThreadStart } from "./thread-start.ts";

export interface FactSources {
  readonly context: ChannelContext<SlackConfig>;
  readonly self: Self;
  readonly people: People;
  readonly places: Conversations;
  readonly threads: Threads;
  readonly history: History;
}

/**
 * Looks up the facts that the event does not contain.
 *
 * @returns `undefined` if a required lookup failed or timed out
 */
export async function lookUpFacts(ports: FactSources, envelope: Envelope): Promise<Facts | undefined> {
  const { context, self } = ports;
  const { config, logger } = context;
  const limit = deadline(limits.lookupMs, context.signal);
  const channel = getChannelId(envelope);
  const message = envelope.kind === "event" ? getChangedMessage(envelope.event) : {};
  try {
    const kind = channel === undefined ? "channel" : await lookUpKind(ports, channel, envelope, limit.signal);
    const joined = channel !== undefined && (await hasJoined(ports, channel, message));
    return {
      ...eventFacts(context, self.id),
      self,
      names: await lookUpNames(ports, message, limit.signal),
      kind,
      hasJoined: joined,
      threadStart: joined
        ? undefined
        : await findThreadStart(ports, { channel, kind, message }, limit.signal),
      replyInThread: config.replyInThread,
      command: config.command,
    };
  } catch (error) {
    if (!isChannelError(error)) throw error;
    logger.warn("failed to look up the conversation of an event; Slack will redeliver it", {
      reason: error.message,
    });
    return undefined;
  } finally {
    limit.end();
  }
}

/** Only message events contain the type of their conversation. */
async function lookUpKind(
  { places }: FactSources,
  channel: string,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<Facts["kind"]> {
  const type = envelope.kind === "event" ? envelope.event["channel_type"] : undefined;
  if (type === "im" || channel.startsWith("D")) return "direct";
  if (type !== "mpim" && type !== "channel" && type !== "group") return places.kind(channel, signal);
  const kind = type === "mpim" ? "group" : "channel";
  await places.saw(channel, kind);
  return kind;
}

async function hasJoined({ threads }: FactSources, channel: string, message: Payload): Promise<boolean> {
  const thread = textAt(message, "thread_ts");
  return thread !== undefined && (await threads.hasJoined({ channel, thread }));
}

/**
 * Looks up the first message of a thread that the bot joins with this message. Once the bot has written in the thread,
 * the session contains the context. Messages that do not address the bot need no lookup.
 */
async function findThreadStart(
  { self, history, people }: FactSources,
  {
    channel,
    kind,
    message,
  }: {
    readonly channel: string | undefined;
    readonly kind: Facts["kind"];
    readonly message: Payload;
  },
  signal: AbortSignal,
): Promise<Reference | undefined> {
  const thread = textAt(message, "thread_ts");
  if (channel === undefined || thread === undefined || thread === textAt(message, "ts")) return undefined;
  const isAddressed =
    kind === "direct" ||
    findMentionedUsers(message).includes(self.id) ||
    textAt(message, "parent_user_id") === self.id;
  return isAddressed ? lookUpThreadStart({ history, people, self }, { channel, thread }, signal) : undefined;
}

/** Looks up the names of the first mentioned users. Each lookup is a request. */
async function lookUpNames(
  { self, people }: FactSources,
  message: Payload,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ids = findMentionedUsers(message)
    .filter((id) => id !== self.id)
    .slice(0, limits.namesLookedUp);
  const names = await Promise.all(
    ids.map(async (id): Promise<[string, string][]> => {
      const person = await people.name(id, signal);
      return person === undefined ? [] : [[id, person.name]];
    }),
  );
  return new Map(names.flat());
}

/** Returns the message of an event, or the new version of an edited one. */
function getChangedMessage(event: Payload): Payload {
  return event["subtype"] === "message_changed" ? objectAt(event, "message") : event;
}
