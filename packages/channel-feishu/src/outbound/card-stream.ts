import { type Clock, isRetryable } from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { CardEntity } from "./card-kit.ts";

/** Content of a draft: the complete card, and the text of its element if it can be streamed. */
export interface CardText {
  readonly card: string;
  readonly markdown?: string;
}

/** A card entity in which an answer grows. */
export interface CardStream {
  write(content: CardText): Promise<void>;
  /** Shows the finished card. */
  finish(card: string): Promise<void>;
}

/**
 * Streams into a card until `signal` fires. Feishu ends streaming ten minutes after it was last enabled, even if text
 * was written since then, so it is enabled again in time. If streaming ended anyway, complete cards replace streamed
 * text, because a card can be changed throughout its lifetime.
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
  // The pauses end early only if the signal fires.
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
