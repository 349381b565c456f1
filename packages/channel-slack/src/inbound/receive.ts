import {
  type Backfill,
  type ChannelContext,
  createBackfill,
  deadline,
  type Handled,
  isChannelError,
  type MessageEvent,
  objectAt,
  type Payload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { SlackConfig } from "../config.ts";
import type { History } from "../history.ts";
import { limits } from "../limits.ts";
import { renderForm } from "../outbound/forms.ts";
import type { People, Self } from "../people.ts";
import type { Places } from "../places.ts";
import { mentionedIn } from "./content.ts";
import type { Envelope } from "./envelope.ts";
import { type Facts, teamOf } from "./event-base.ts";
import { channelOf, readEnvelope } from "./events.ts";
import { formToOpen } from "./forms.ts";
import { missedMessages } from "./missed.ts";

/** The way of an event from the wire to `emit`. */
export interface Receiver {
  accept(envelope: Envelope): Promise<Handled>;
  /** What was said while nothing could come in. */
  readonly backfill: Backfill;
}

interface ReceiverOptions {
  readonly api: SlackApi;
  readonly context: ChannelContext<SlackConfig>;
  readonly self: Self;
  readonly people: People;
  readonly places: Places;
  readonly history: History;
}

export function createReceiver({ api, context, self, people, places, history }: ReceiverOptions): Receiver {
  const { config, logger, clock } = context;
  const backfill = createBackfill<Envelope>({
    state: context.state,
    clock,
    logger,
    // Watermarks of one workspace say nothing about another.
    botId: `${self.teamId}/${self.id}`,
    read: (place, since, signal) => missedMessages({ history, clock }, place, since, signal),
    take: accept,
  });

  async function accept(envelope: Envelope): Promise<Handled> {
    const asked = envelope.kind === "interaction" ? formToOpen(envelope.body) : undefined;
    if (asked !== undefined) return openForm(asked);
    const facts = await lookUp(envelope);
    if (facts === undefined) return "rejected";
    const event = readEnvelope(envelope, facts);
    if (event === "ignored" || event === "malformed") return event;
    if (event.type === "message") await remember(event, envelope);
    const handled = await context.emit(event);
    if (handled !== "rejected" && event.type === "message") await noted(event);
    return handled;
  }

  /** A click is good for it for three seconds, and once: who comes too late clicks again. */
  async function openForm({ form, triggerId }: NonNullable<ReturnType<typeof formToOpen>>): Promise<Handled> {
    const limit = deadline(limits.triggerMs, context.signal);
    const options = { what: "opening a form", write: false, signal: limit.signal };
    try {
      await api.call("views.open", { trigger_id: triggerId, view: renderForm(form) }, options);
    } catch (error) {
      logger.warn("a form could not be opened", { reason: reasonOf(error) });
    } finally {
      limit.end();
    }
    return "ignored";
  }

  /** Streams want to know whom they answer. */
  async function remember(
    { messageId: id, sender }: MessageEvent,
    { body, ...rest }: Envelope,
  ): Promise<void> {
    const event = "event" in rest ? rest.event : {};
    // Of people from elsewhere Slack tells their own workspace.
    const teamId = textAt(event, "user_team") ?? textAt(event, "team") ?? teamOf(body) ?? self.teamId;
    const [channel = "", ts = ""] = id.split(/:(.*)/s);
    if (!sender.isBot) await places.wrote({ channel, ts }, { userId: sender.id, teamId });
  }

  async function noted({ address, timestamp, addressed }: MessageEvent): Promise<void> {
    const { channel, thread } = addressCodec.decode(address);
    // What is said in threads is not among what a conversation lists.
    const marks = [address, ...(thread === undefined ? [] : [addressCodec.encode({ channel })])];
    const wanted = addressed === "none" ? marks.slice(-1) : marks;
    for (const mark of wanted) await backfill.note(mark, timestamp);
  }

  /** What the event leaves open. Undefined: what decides about it could not be found out in time. */
  async function lookUp(envelope: Envelope): Promise<Facts | undefined> {
    const limit = deadline(limits.lookupMs, context.signal);
    const channel = channelOf(envelope);
    const message = envelope.kind === "event" ? messageIn(envelope.event) : {};
    try {
      return {
        account: context.account,
        self,
        names: await namesIn(message, limit.signal),
        kind: channel === undefined ? "channel" : await kindOf(channel, envelope, limit.signal),
        hasJoined: channel !== undefined && (await hasJoined(channel, message)),
        replyInThread: config.replyInThread,
        command: config.command,
        now: clock.now(),
        raw: context.raw === true,
      };
    } catch (error) {
      if (!isChannelError(error)) throw error;
      logger.warn("an event has to come again: its conversation could not be looked up", {
        reason: error.message,
      });
      return undefined;
    } finally {
      limit.end();
    }
  }

  /** Only messages say of which kind their conversation is. */
  async function kindOf(channel: string, envelope: Envelope, signal: AbortSignal): Promise<Facts["kind"]> {
    const type = envelope.kind === "event" ? envelope.event["channel_type"] : undefined;
    if (type === "im" || channel.startsWith("D")) return "direct";
    if (type !== "mpim" && type !== "channel" && type !== "group") return places.kind(channel, signal);
    const kind = type === "mpim" ? "group" : "channel";
    await places.saw(channel, kind);
    return kind;
  }

  async function hasJoined(channel: string, message: Payload): Promise<boolean> {
    const thread = textAt(message, "thread_ts");
    return thread !== undefined && (await places.hasJoined({ channel, thread }));
  }

  /** Of the people in a text, and of the bot, which knows its own. */
  async function namesIn(message: Payload, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const ids = mentionedIn(message).filter((id) => id !== self.id);
    const names = await Promise.all(
      ids.map(async (id): Promise<[string, string][]> => {
        const person = await people.name(id, signal);
        return person === undefined ? [] : [[id, person.name]];
      }),
    );
    return new Map(names.flat());
  }

  return { accept, backfill };
}

/** The message an event brings, or the one it changes. */
function messageIn(event: Payload): Payload {
  return event["subtype"] === "message_changed" ? objectAt(event, "message") : event;
}
