import {
  type ChannelContext,
  emitAll,
  type Handled,
  type InboundEvent,
  objectAt,
  type Payload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import type { Buttons } from "../outbound/buttons.ts";
import { asOneMessage } from "./one-message.ts";
import type { Bot } from "./text.ts";
import { readUpdate, updateIdOf } from "./update.ts";

const mostTries = 3;

/** The way of an update, or of the parts of an album, from the wire to `emit`. Resolves after the durable insert. */
export type Receive = (updates: readonly Payload[]) => Promise<Handled>;

export function createReceiver(
  context: ChannelContext<TelegramConfig>,
  api: TelegramApi,
  who: { readonly bot: Bot; readonly buttons: Buttons },
): Receive {
  /** How often each update could not be read. */
  const unreadable = new Map<number | undefined, number>();

  /** Undefined for what Telegram does not send, and for what cannot be read however often it is tried. */
  async function readOrLeaveOut(update: Payload): Promise<readonly InboundEvent[] | undefined> {
    const id = updateIdOf(update);
    try {
      const events = await read(update);
      unreadable.delete(id);
      return events;
    } catch (error) {
      const tries = (unreadable.get(id) ?? 0) + 1;
      unreadable.set(id, tries);
      if (tries < mostTries) throw error;
      // What is wrong with one of them must not keep all that come behind it from being heard.
      unreadable.delete(id);
      context.logger.error("an unreadable update was skipped", { reason: reasonOf(error) });
      return undefined;
    }
  }

  async function read(update: Payload): Promise<readonly InboundEvent[] | undefined> {
    const data = textAt(objectAt(update, "callback_query"), "data");
    return readUpdate(update, {
      account: context.account,
      bot: who.bot,
      commands: context.commands ?? [],
      clicked: data === undefined ? undefined : await who.buttons.read(data),
      now: context.clock.now(),
      raw: context.raw ?? false,
    });
  }

  return async function receive(updates) {
    const readings = await Promise.all(updates.map(readOrLeaveOut));
    if (readings.every((events) => events === undefined)) return "malformed";
    const events = asOneMessage(readings.flatMap((reading) => reading ?? []));
    const query = objectAt(updates[0] ?? {}, "callback_query");
    const handled = await emitAll(context, events);
    if (handled === "rejected") return handled;
    const queryId = textAt(query, "id");
    if (queryId !== undefined) await stopSpinner(queryId);
    return handled;
  };

  /** Until it is answered, the button that was clicked shows that it is busy. Nothing hangs on it. */
  async function stopSpinner(queryId: string): Promise<void> {
    const call = { what: "answering a click", write: false, signal: context.signal };
    await api.call(call, (raw) => raw.answerCallbackQuery({ callback_query_id: queryId })).catch(() => {});
  }
}
