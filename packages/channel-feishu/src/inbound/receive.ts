import {
  type Backfill,
  createBackfill,
  createOrder,
  emitAll,
  type HandleResult,
  type MessageEvent,
  timeAt,
} from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import { limits } from "../limits.ts";
import { createEdits, type Followed } from "./edits.ts";
import type { EventEnvelope } from "./envelope.ts";
import { chatOf, messageOf, readEvent } from "./events.ts";
import { type FactsPorts, lookUpFacts } from "./facts.ts";
import { missedMessages } from "./missed.ts";

/** Reads events and emits them. */
export interface Receiver {
  accept(envelope: EventEnvelope): Promise<HandleResult>;
  /** Reads messages that arrived while the account was offline. */
  readonly backfill: Backfill;
  /** Stops rereading messages to detect edits. */
  stop(): void;
}

interface ReceiverOptions extends FactsPorts {
  readonly api: FeishuApi;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { context, api, places } = options;
  const { appId } = context.config;
  const order = createOrder();
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
    emit: accept,
    maxDelayMs: limits.orderMs,
  });

  /** Emits a live event after the missed messages of its chat. */
  async function acceptLive(envelope: EventEnvelope): Promise<HandleResult> {
    const chat = chatOf(envelope);
    if (chat !== undefined) await backfill.inOrder(chat);
    return accept(envelope);
  }

  async function accept(envelope: EventEnvelope): Promise<HandleResult> {
    const chat = chatOf(envelope);
    const looking = lookUpFacts(options, envelope);
    const facts = await (chat === undefined ? looking : order.next(chat, looking));
    if (facts === undefined) return "rejected";
    const events = readEvent(envelope, facts);
    if (events === undefined) return "malformed";
    return emitAll(context, events, async (event) => {
      if (event.type !== "message") return;
      await backfill.note(event.conversation.id, event.timestamp);
      if (event.addressed !== "none") edits.follow(followed(envelope, event));
    });
  }

  return { accept: acceptLive, backfill, stop: () => edits.stop() };
}

function followed(envelope: EventEnvelope, { messageId, conversation, timestamp }: MessageEvent): Followed {
  const changedAt = timeAt(messageOf(envelope) ?? {}, "update_time") ?? timestamp;
  const kind = conversation.kind === "direct" ? "direct" : "group";
  return { messageId, place: { chatId: conversation.id, kind }, changedAt };
}
