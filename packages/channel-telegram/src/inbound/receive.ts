import {
  type ChannelContext,
  emitAll,
  eventFacts,
  type HandleResult,
  type InboundEvent,
  objectAt,
  type Payload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import type { Buttons } from "../outbound/buttons.ts";
import type { MessageIds } from "../outbound/message-ids.ts";
import type { Supergroups } from "../supergroups.ts";
import { createForwardAddressing, mergeAlbum } from "./albums.ts";
import { idAt } from "./conversation.ts";
import type { Bot } from "./text.ts";
import { getUpdateId, readUpdate } from "./update.ts";

const MAX_TRIES = 3;

/** Reads one update, or the items of an album, and emits the events. Resolves once they are stored. */
export type Receive = (updates: readonly Payload[]) => Promise<HandleResult>;

interface ReceiverParts {
  readonly api: TelegramApi;
  readonly supergroups: Supergroups;
  readonly ids: MessageIds;
}

export function createReceiver(
  context: ChannelContext<TelegramConfig>,
  { api, supergroups, ids }: ReceiverParts,
  who: { readonly bot: Bot; readonly buttons: Buttons },
): Receive {
  /** Number of failed attempts per update. */
  const unreadable = new Map<number | undefined, number>();
  const addressForwards = createForwardAddressing();

  /** Returns `undefined` for malformed updates and for those that failed too often. */
  async function readOrSkip(update: Payload): Promise<readonly InboundEvent[] | undefined> {
    const id = getUpdateId(update);
    try {
      const events = await read(update);
      unreadable.delete(id);
      return events;
    } catch (error) {
      const tries = (unreadable.get(id) ?? 0) + 1;
      unreadable.set(id, tries);
      if (tries < MAX_TRIES) throw error;
      // Skip the update, so that it does not block the ones after it.
      unreadable.delete(id);
      context.logger.error("skipped an unreadable update", { reason: reasonOf(error) });
      return undefined;
    }
  }

  async function read(update: Payload): Promise<readonly InboundEvent[] | undefined> {
    const data = textAt(objectAt(update, "callback_query"), "data");
    await supergroups.learnFrom(update);
    for (const message of [objectAt(update, "message"), objectAt(update, "channel_post")]) {
      const chatId = idAt(objectAt(message, "chat"));
      const { message_id: id } = message;
      if (chatId !== undefined && typeof id === "number" && Number.isSafeInteger(id)) ids.add(chatId, id);
    }
    const events = readUpdate(update, {
      ...eventFacts(context, who.bot.id),
      bot: who.bot,
      commands: context.commands ?? [],
      clicked: data === undefined ? undefined : await who.buttons.read(data),
    });
    return events && Promise.all(events.map(supergroups.toFirst));
  }

  return async function receive(updates) {
    const readings = await Promise.all(updates.map(readOrSkip));
    if (readings.every((events) => events === undefined)) return "malformed";
    const events = addressForwards(mergeAlbum(readings.flatMap((reading) => reading ?? [])));
    const query = objectAt(updates[0] ?? {}, "callback_query");
    const handled = await emitAll(context, events);
    if (handled === "rejected") return handled;
    const queryId = textAt(query, "id");
    if (queryId !== undefined) await stopSpinner(queryId);
    return handled;
  };

  /** Stops the progress indicator on the clicked button. Failures are ignored. */
  async function stopSpinner(queryId: string): Promise<void> {
    const call = { what: "acknowledging a click", write: false, signal: context.signal };
    await api.call(call, (raw) => raw.answerCallbackQuery({ callback_query_id: queryId })).catch(() => {});
  }
}
