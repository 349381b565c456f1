import {
  type Backfill,
  type ChannelContext,
  createBackfill,
  emitAll,
  type Handled,
  isChannelError,
  isLasting,
  type MessageEvent,
  objectAt,
  objectsAt,
  textAt,
  timeAt,
  unlessRefused,
} from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import type { FeishuConfig } from "../config.ts";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import type { EarlierMessage, Place, Places } from "../places.ts";
import { createEdits, type Followed } from "./edits.ts";
import type { EventEnvelope } from "./envelope.ts";
import { type Facts, messageOf, readEvent } from "./events.ts";
import { missedMessages } from "./missed.ts";

/** The way of an event from the wire to `emit`. */
export interface Receiver {
  accept(envelope: EventEnvelope): Promise<Handled>;
  /** What was said while no connection stood. */
  readonly backfill: Backfill;
  /** No message is read again for its edits. */
  stop(): void;
}

interface ReceiverOptions {
  readonly context: ChannelContext<FeishuConfig>;
  readonly api: FeishuApi;
  readonly people: People;
  readonly places: Places;
  /** What an event refers to could not be looked up. */
  onTrouble(reason: string): void;
}

export function createReceiver({ context, api, people, places, onTrouble }: ReceiverOptions): Receiver {
  const { appId } = context.config;
  const edits = createEdits({ context, api, take: accept });
  const backfill = createBackfill<EventEnvelope>({
    state: context.state,
    clock: context.clock,
    logger: context.logger,
    botId: appId,
    read: async (chatId, since, signal) => {
      const kind = await places.kind(chatId, signal);
      return missedMessages(api, { chatId, kind }, { since, appId, signal });
    },
    take: accept,
  });

  async function accept(envelope: EventEnvelope): Promise<Handled> {
    const facts = await lookUp(envelope);
    if (facts === undefined) return "rejected";
    const events = readEvent(envelope, facts);
    if (events === undefined) return "malformed";
    return emitAll(context, events, async (event) => {
      if (event.type !== "message") return;
      await backfill.note(event.conversation.id, event.timestamp);
      if (event.addressed !== "none") edits.follow(followed(envelope, event));
    });
  }

  /** What the event leaves open, as far as it decides anything. Undefined: it could not be found out in time. */
  async function lookUp(envelope: EventEnvelope): Promise<Facts | undefined> {
    // Most events leave nothing open, and a timer for each would be waste.
    let limited: AbortSignal | undefined;
    const signal = (): AbortSignal => {
      limited ??= AbortSignal.any([context.signal, AbortSignal.timeout(limits.lookupMs)]);
      return limited;
    };
    try {
      const message = messageOf(envelope);
      const chatId = message === undefined ? undefined : textAt(message, "chat_id");
      if (chatId !== undefined)
        await places.saw(chatId, message?.["chat_type"] === "p2p" ? "direct" : "group");
      return {
        account: context.account,
        appId,
        selfId: await selfFor(envelope, signal),
        answered: await answeredBy(envelope, signal),
        forwarded: await forwardedIn(envelope, signal),
        place: await placeOf(envelope, signal),
        now: context.clock.now(),
        raw: context.raw === true,
      };
    } catch (error) {
      if (!isChannelError(error)) throw error;
      onTrouble(error.message);
      context.logger.warn("an event has to come again: what it refers to could not be looked up", {
        type: envelope.type,
        reason: error.message,
      });
      return undefined;
    }
  }

  /** Whether a mention is ours decides in a group what becomes of the message; elsewhere only how its text reads. */
  async function selfFor(envelope: EventEnvelope, signal: () => AbortSignal): Promise<string | undefined> {
    const message = messageOf(envelope);
    const mentioned = message !== undefined && objectsAt(message, "mentions").length > 0;
    if (mentioned && message["chat_type"] === "p2p") {
      return (await people.self(signal()).catch(() => undefined))?.id;
    }
    // A message of an app may be the bot's own.
    const byApp = message !== undefined && objectAt(envelope.event, "sender")["sender_type"] !== "user";
    if (mentioned || byApp || envelope.type.includes(".member.bot.")) return (await people.self(signal())).id;
    return people.known()?.id;
  }

  /** In a group it decides whether the message concerns the bot; elsewhere the event does without it. */
  async function answeredBy(
    envelope: EventEnvelope,
    signal: () => AbortSignal,
  ): Promise<EarlierMessage | undefined> {
    const message = messageOf(envelope);
    const parentId = message === undefined ? undefined : textAt(message, "parent_id");
    if (parentId === undefined) return undefined;
    try {
      return await places.message(parentId, signal());
    } catch (error) {
      // A message that we may not see was not written by us; any other failure may pass.
      if (message?.["chat_type"] === "p2p" || isLasting(error)) return undefined;
      throw error;
    }
  }

  /** A merged forward that may not be read stays what it is; any other failure may pass. */
  async function forwardedIn(
    envelope: EventEnvelope,
    signal: () => AbortSignal,
  ): Promise<string | undefined> {
    const message = messageOf(envelope);
    const messageId = message === undefined ? undefined : textAt(message, "message_id");
    if (message?.["message_type"] !== "merge_forward" || messageId === undefined) return undefined;
    return unlessRefused(places.forwarded(messageId, signal()), undefined);
  }

  async function placeOf(
    { type, event }: EventEnvelope,
    signal: () => AbortSignal,
  ): Promise<Place | undefined> {
    const named = textAt(event, "chat_id") ?? textAt(objectAt(event, "context"), "open_chat_id");
    if (type === "im.message.recalled_v1" || type === "card.action.trigger") {
      return named === undefined ? undefined : { chatId: named, kind: await places.kind(named, signal()) };
    }
    const messageId = type.startsWith("im.message.reaction.") ? textAt(event, "message_id") : undefined;
    if (messageId === undefined) return undefined;
    const chatId = (await unlessRefused(places.message(messageId, signal()), undefined))?.chatId;
    return chatId === undefined ? undefined : { chatId, kind: await places.kind(chatId, signal()) };
  }

  return { accept, backfill, stop: edits.stop };
}

function followed(envelope: EventEnvelope, { messageId, conversation, timestamp }: MessageEvent): Followed {
  const changedAt = timeAt(messageOf(envelope) ?? {}, "update_time") ?? timestamp;
  const kind = conversation.kind === "direct" ? "direct" : "group";
  return { messageId, place: { chatId: conversation.id, kind }, changedAt };
}
