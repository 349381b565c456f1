import {
  type ChannelContext,
  ChannelError,
  catchRefusal,
  encodePathSegment,
  isChannelError,
  isRetryable,
  reasonOf,
  TokenBuckets,
} from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import type { FeishuClient } from "../client.ts";
import type { FeishuConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { answerElement, renderStreamingCard } from "./render.ts";

/** A card that Feishu stores separately from its message and that supports streaming. */
export interface CardEntity {
  readonly cardId: string;
  /** Sets the text of the card's element. If the text continues the previous one, Feishu shows it as typing. */
  write(markdown: string, signal: AbortSignal): Promise<void>;
  /** Turns streaming on or off. Feishu turns it off ten minutes after it was last enabled. */
  setStreaming(on: boolean, signal: AbortSignal): Promise<void>;
  /** Replaces the entire card, which ends streaming. */
  replace(card: string, signal: AbortSignal): Promise<void>;
}

/** Card entities of an account. All methods throw only `ChannelError`. */
export interface CardKit {
  /** Creates a streaming card, or returns `undefined` if the app lacks the permission. */
  open(markdown: string, signal: AbortSignal): Promise<CardEntity | undefined>;
  /** Returns the card of a message, or `undefined` if it is not available. */
  shownBy(messageId: string, signal: AbortSignal): Promise<CardEntity | undefined>;
}

type Operation = (
  client: FeishuClient,
  to: { readonly card_id: string },
  sequence: number,
) => Promise<unknown>;

/** Sequence numbers are the seconds since this time, so they last for 68 years. */
const numberedSince = Date.UTC(2026, 0, 1);
/**
 * Increments of an operation's sequence number. The larger ones are used if another process is ahead, either by that
 * many operations or because its clock is that many seconds ahead.
 */
const leaps = [1, 100, 10_000, 1_000_000];
/** Feishu's error code for a sequence number that is not higher than the previous one. */
const outOfOrder = "300317";

async function wasInOrder(operation: () => Promise<unknown>): Promise<boolean> {
  try {
    await operation();
    return true;
  } catch (error) {
    if (isChannelError(error) && error.platformCode === outOfOrder) return false;
    throw error;
  }
}

interface CardPorts {
  readonly api: FeishuApi;
  readonly clock: ChannelContext["clock"];
  readonly buckets: TokenBuckets;
}

export function createCardKit(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "clock" | "logger">,
  api: FeishuApi,
): CardKit {
  const { config, clock, logger } = context;
  const ports: CardPorts = { api, clock, buckets: new TokenBuckets(clock.now) };
  /** Time until which no card is requested, because the app was refused one. */
  let refusedUntil = 0;

  async function open(markdown: string, signal: AbortSignal): Promise<CardEntity | undefined> {
    if (!config.streams || clock.now() < refusedUntil) return undefined;
    try {
      // A card without a message is not visible, so creating it twice does no harm.
      const answer = await api.call({ what: "making a card", write: false, signal }, (client) =>
        client.card.create({
          data: { type: "card_json", data: renderStreamingCard(markdown) },
        }),
      );
      const cardId = answer.data?.card_id;
      return cardId === undefined ? undefined : cardEntity(ports, cardId);
    } catch (error) {
      if (isRetryable(error)) throw error;
      refusedUntil = clock.now() + limits.cardKitRefusedMs;
      logger.warn("answers are not streamed: the app may make no cards (cardkit:card:write)", {
        reason: reasonOf(error),
      });
      return undefined;
    }
  }

  async function shownBy(messageId: string, signal: AbortSignal): Promise<CardEntity | undefined> {
    const call = { what: "asking which card a message shows", write: false, signal };
    const asked = api.call(call, (client) => client.card.idConvert({ data: { message_id: messageId } }));
    const cardId = (await catchRefusal(asked, undefined))?.data?.card_id;
    return cardId === undefined ? undefined : cardEntity(ports, cardId);
  }

  return { open, shownBy };
}

function cardEntity(ports: CardPorts, cardId: string): CardEntity {
  let sequence = 0;
  let last: Promise<unknown> = Promise.resolve();

  /**
   * Runs operations one at a time, because an operation that overtakes another would make the other's number too low.
   */
  function operate(name: string, signal: AbortSignal, run: Operation): Promise<void> {
    const result = last.then(async () => {
      // If another process continues a card, its numbers start above ours.
      sequence = Math.max(sequence, Math.floor((ports.clock.now() - numberedSince) / 1000));
      for (const leap of leaps) {
        sequence += leap;
        await turn(ports, cardId, name, signal);
        if (await wasInOrder(() => call(run, sequence, signal))) return;
      }
      // A retry would be refused as well. The answer is sent as a separate message instead.
      throw new ChannelError(
        "invalid",
        "Feishu: changing a card: its sequence number is higher than expected",
      );
    });
    last = result.catch(() => {});
    return result;
  }

  function call(run: Operation, number: number, signal: AbortSignal): Promise<unknown> {
    return ports.api.call({ what: "changing a card", write: true, signal }, (client) =>
      run(client, { card_id: encodePathSegment(cardId) }, number),
    );
  }

  return {
    cardId,
    write: (markdown, signal) =>
      operate("content", signal, (client, path, number) =>
        client.cardElement.content({
          path: { ...path, element_id: answerElement },
          data: { content: markdown, sequence: number },
        }),
      ),
    setStreaming: (on, signal) =>
      operate("settings", signal, (client, path, number) =>
        client.card.settings({
          path,
          data: { settings: JSON.stringify({ config: { streaming_mode: on } }), sequence: number },
        }),
      ),
    replace: (card, signal) =>
      operate("update", signal, (client, path, number) =>
        client.card.update({
          path,
          data: { card: { type: "card_json", data: card }, sequence: number },
        }),
      ),
  };
}

/** Waits until the rate limits permit another operation on the card and another call of this method. */
async function turn(
  { buckets, clock }: CardPorts,
  cardId: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const waitMs = Math.max(
    buckets.reserve(`card ${cardId}`, limits.cardOperations),
    buckets.reserve(`call ${name}`, limits.cardCalls),
  );
  if (waitMs > 0) await clock.delay(waitMs, signal).catch(() => {});
}

/** Creates the content of a message that shows a card entity. */
export function cardReference(cardId: string): string {
  return JSON.stringify({ type: "card", data: { card_id: cardId } });
}
