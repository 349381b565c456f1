import type { Client } from "@larksuiteoapi/node-sdk";
import {
  type ChannelContext,
  ChannelError,
  isChannelError,
  isLasting,
  isPayload,
  pathSegment,
  reasonOf,
  TokenBuckets,
  textAt,
} from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
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
  open(key: string, markdown: string, signal: AbortSignal): Promise<CardEntity | undefined>;
  /** The card that was made for a message under its idempotency key, perhaps by an earlier process. */
  madeUnder(key: string): Promise<CardEntity | undefined>;
  /** A message shows the card from now on. */
  shownBy(messageId: string, key: string): Promise<void>;
  /** The card that a message shows, where it shows one. */
  of(messageId: string): Promise<CardEntity | undefined>;
}

type Operation = (client: Client, to: { readonly card_id: string }, sequence: number) => Promise<unknown>;

/** How far the number of an operation goes on from the last, and further where somebody else was ahead. */
const leaps = [1, 100, 10_000];
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

export function createCardKit(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "cache" | "clock" | "logger">,
  api: FeishuApi,
): CardKit {
  const { config, cache, clock, logger } = context;
  const buckets = new TokenBuckets(() => clock.now());
  const cacheKey = (kind: "made" | "shown", id: string) => `feishu/${config.appId}/card-${kind}/${id}`;
  /** Until when no card is asked for, after the app was refused one. */
  let refusedUntil = 0;

  /** Waits until Feishu takes another operation on the card, and of that kind. */
  async function turn(cardId: string, name: string, signal: AbortSignal): Promise<void> {
    const waitMs = Math.max(
      buckets.reserve(`card ${cardId}`, limits.cardOperations),
      buckets.reserve(`call ${name}`, limits.cardCalls),
    );
    if (waitMs > 0) await clock.delay(waitMs, signal).catch(() => {});
  }

  function entity(cardId: string, madeAt: number): CardEntity {
    let sequence = 0;
    let last: Promise<unknown> = Promise.resolve();

    /** One after the other: an operation that overtakes another would make that one's number too low. */
    function operate(name: string, signal: AbortSignal, run: Operation): Promise<void> {
      const result = last.then(async () => {
        // A card takes ten operations a second: who counts tenths of a second is ahead of an earlier process, mostly.
        sequence = Math.max(sequence, Math.floor((clock.now() - madeAt) / 100));
        for (const leap of leaps) {
          sequence += leap;
          await turn(cardId, name, signal);
          if (await wasInOrder(() => call(run, sequence, signal))) return;
        }
        throw new ChannelError("transient", "Feishu: changing a card: others change it at the same time");
      });
      last = result.catch(() => {});
      return result;
    }

    function call(run: Operation, number: number, signal: AbortSignal): Promise<unknown> {
      return api.call({ what: "changing a card", write: true, signal }, (client) =>
        run(client, { card_id: pathSegment(cardId) }, number),
      );
    }

    return {
      cardId,
      write: (markdown, signal) =>
        operate("content", signal, (client, path, number) =>
          client.cardkit.v1.cardElement.content({
            path: { ...path, element_id: answerElement },
            data: { content: markdown, sequence: number },
          }),
        ),
      setStreaming: (on, signal) =>
        operate("settings", signal, (client, path, number) =>
          client.cardkit.v1.card.settings({
            path,
            data: { settings: JSON.stringify({ config: { streaming_mode: on } }), sequence: number },
          }),
        ),
      replace: (card, signal) =>
        operate("update", signal, (client, path, number) =>
          client.cardkit.v1.card.update({
            path,
            data: { card: { type: "card_json", data: card }, sequence: number },
          }),
        ),
    };
  }

  async function remembered(key: string): Promise<CardEntity | undefined> {
    const cached = await cache.get(key);
    if (!isPayload(cached)) return undefined;
    const cardId = textAt(cached, "cardId");
    const { madeAt } = cached;
    return cardId === undefined || typeof madeAt !== "number" ? undefined : entity(cardId, madeAt);
  }

  async function make(markdown: string, signal: AbortSignal): Promise<string | undefined> {
    if (!config.streams || clock.now() < refusedUntil) return undefined;
    try {
      // A card that no message shows is seen by nobody: to make one twice does no harm.
      const answer = await api.call({ what: "making a card", write: false, signal }, (client) =>
        client.cardkit.v1.card.create({
          data: { type: "card_json", data: renderStreamingCard(markdown) },
        }),
      );
      return answer.data?.card_id;
    } catch (error) {
      if (!isLasting(error)) throw error;
      refusedUntil = clock.now() + limits.cardKitRefusedMs;
      logger.warn("answers are not streamed: the app may make no cards (cardkit:card:write)", {
        reason: reasonOf(error),
      });
      return undefined;
    }
  }

  return {
    async open(key, markdown, signal) {
      const earlier = await remembered(cacheKey("made", key));
      if (earlier !== undefined) return earlier;
      const cardId = await make(markdown, signal);
      if (cardId === undefined) return undefined;
      const madeAt = clock.now();
      // Before it is sent: where the answer to that is lost, the message that is there shows this card and no other.
      await cache.set(cacheKey("made", key), { cardId, madeAt }, limits.uuidWindowMs);
      return entity(cardId, madeAt);
    },
    madeUnder: (key) => remembered(cacheKey("made", key)),
    async shownBy(messageId, key) {
      const made = await cache.get(cacheKey("made", key));
      if (isPayload(made)) await cache.set(cacheKey("shown", messageId), { ...made }, limits.editWindowMs);
    },
    of: (messageId) => remembered(cacheKey("shown", messageId)),
  };
}

/** The content of a message that shows a card entity. */
export function cardReference(cardId: string): string {
  return JSON.stringify({ type: "card", data: { card_id: cardId } });
}
