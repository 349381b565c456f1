import {
  type ChannelContext,
  deadline,
  isChannelError,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { SlackConfig } from "../config.ts";
import { limits } from "../limits.ts";
import type { People, Self } from "../people.ts";
import type { Places } from "../places.ts";
import type { Threads } from "../threads.ts";
import { mentionedIn } from "./content.ts";
import type { Envelope } from "./envelope.ts";
import type { Facts } from "./event-base.ts";
import { channelOf } from "./events.ts";

export interface FactsPorts {
  readonly context: ChannelContext<SlackConfig>;
  readonly self: Self;
  readonly people: People;
  readonly places: Places;
  readonly threads: Threads;
}

/** What the event leaves open. Undefined: what decides about it could not be found out in time. */
export async function lookUpFacts(ports: FactsPorts, envelope: Envelope): Promise<Facts | undefined> {
  const { context, self } = ports;
  const { config, clock, logger } = context;
  const limit = deadline(limits.lookupMs, context.signal);
  const channel = channelOf(envelope);
  const message = envelope.kind === "event" ? messageIn(envelope.event) : {};
  try {
    return {
      account: context.account,
      self,
      names: await namesIn(ports, message, limit.signal),
      kind: channel === undefined ? "channel" : await kindOf(ports, channel, envelope, limit.signal),
      hasJoined: channel !== undefined && (await hasJoined(ports, channel, message)),
      replyInThread: config.replyInThread,
      command: config.command,
      now: clock.now(),
      raw: context.raw === true,
    };
  } catch (error) {
    if (!isChannelError(error)) throw error;
    logger.warn("an event must be redelivered: its conversation could not be looked up", {
      reason: error.message,
    });
    return undefined;
  } finally {
    limit.end();
  }
}

/** Only messages say of which kind their conversation is. */
async function kindOf(
  { places }: FactsPorts,
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

async function hasJoined({ threads }: FactsPorts, channel: string, message: Payload): Promise<boolean> {
  const thread = textAt(message, "thread_ts");
  return thread !== undefined && (await threads.hasJoined({ channel, thread }));
}

/** Of the first people in a text: each costs a request. The bot knows its own. */
async function namesIn(
  { self, people }: FactsPorts,
  message: Payload,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ids = mentionedIn(message)
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

/** The message an event brings, or the one it changes. */
function messageIn(event: Payload): Payload {
  return event["subtype"] === "message_changed" ? objectAt(event, "message") : event;
}
