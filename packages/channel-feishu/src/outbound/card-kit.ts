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

/** A card that Feishu keeps apart from the message that shows it, and that can be streamed into. */
export interface CardEntity {
  readonly cardId: string;
  /** The text of its one element: shown as typing where it goes on from the one before. */
  write(markdown: string, signal: AbortSignal): Promise<void>;
  /** Feishu turns it off by itself ten minutes after it was last turned on. */
  setStreaming(on: boolean, signal: AbortSignal): Promise<void>;
  /** The whole card, which ends streaming. */
  replace(card: string, signal: AbortSignal): Promise<void>;
}

/** The card entities of an account. Every method throws ChannelError and nothing else. */
export interface CardKit {
  /** A streaming card; undefined where the app may make none. */
  open(markdown: string, signal: AbortSignal): Promise<CardEntity | undefined>;
  /** The card that a message shows; undefined where that cannot be found out. */
  shownBy(messageId: string, signal: AbortSignal): Promise<CardEntity | undefined>;
}

type Operation = (
  client: FeishuClient,
  to: { readonly card_id: string },
  sequence: number,
) => Promise<unknown>;

/** Operations are numbered by the second from then on, so that the numbers last for 68 years. */
const numberedSince = Date.UTC(2026, 0, 1);
/**
 * How far the number of an operation goes on from the last, and further where another process was ahead: by up to so
 * many operations, or by a clock that is so many seconds before ours.
 */
const leaps = [1, 100, 10_000, 1_000_000];
/** Feishu's code for a number that is not higher than the one before. */
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
  /** Until when no card is asked for, after the app was refused one. */
  let refusedUntil = 0;

  async function open(markdown: string, signal: AbortSignal): Promise<CardEntity | undefined> {
    if (!config.streams || clock.now() < refusedUntil) return undefined;
    try {
      // A card that no message shows is seen by nobody: to make one twice does no harm.
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

  /** One after the other: an operation that overtakes another would make that one's number too low. */
  function operate(name: string, signal: AbortSignal, run: Operation): Promise<void> {
    const result = last.then(async () => {
      // Whichever process goes on with a card begins above the numbers of the one before.
      sequence = Math.max(sequence, Math.floor((ports.clock.now() - numberedSince) / 1000));
      for (const leap of leaps) {
        sequence += leap;
        await turn(ports, cardId, name, signal);
        if (await wasInOrder(() => call(run, sequence, signal))) return;
      }
      // Tried again, it would be refused again: the answer is better sent as a message of its own.
      throw new ChannelError("invalid", "Feishu: changing a card: its numbers are above all that we know");
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

/** Waits until Feishu takes another operation on the card, and of that kind. */
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

/** The content of a message that shows a card entity. */
export function cardReference(cardId: string): string {
  return JSON.stringify({ type: "card", data: { card_id: cardId } });
}
