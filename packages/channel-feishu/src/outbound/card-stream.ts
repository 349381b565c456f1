import { type Clock, isRetryable } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { CardEntity } from "./card-kit.ts";

/** What a draft shows: the card as a whole, and the text of its one element where it can be streamed. */
export interface CardText {
  readonly card: string;
  readonly markdown?: string;
}

/** A card entity that an answer grows in. */
export interface CardStream {
  write(content: CardText): Promise<void>;
  /** The finished card. */
  finish(card: string): Promise<void>;
}

/**
 * Streams into a card until `signal` fires. Feishu ends streaming ten minutes after it was last enabled, also where
 * nothing is written meanwhile: so it is enabled again before. Where it has ended all the same, whole cards take the
 * place of streamed text: the card itself can be changed for as long as it lives.
 */
export function createCardStream(entity: CardEntity, clock: Clock, signal: AbortSignal): CardStream {
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  let isStreaming = true;

  async function keepEnabled(): Promise<void> {
    let pauseMs: number = limits.streamRenewMs;
    for (;;) {
      await clock.delay(pauseMs, ended);
      if (!isStreaming) return;
      pauseMs = await entity.setStreaming(true, signal).then(
        () => limits.streamRenewMs,
        () => limits.streamRetryMs,
      );
    }
  }
  // Only a signal ends the pauses early, and then there is nothing to keep.
  keepEnabled().catch(() => {});

  return {
    async write({ card, markdown }) {
      if (isStreaming && markdown !== undefined) {
        try {
          return await entity.write(markdown, signal);
        } catch (error) {
          if (isRetryable(error)) throw error;
          isStreaming = false;
        }
      }
      await entity.replace(card, signal);
    },
    async finish(card) {
      ending.abort();
      if (isStreaming)
        await entity.setStreaming(false, signal).catch((error: unknown) => {
          if (isRetryable(error)) throw error;
        });
      isStreaming = false;
      await entity.replace(card, signal);
    },
  };
}
