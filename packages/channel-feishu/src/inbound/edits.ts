import {
  type ChannelContext,
  type HandleResult,
  isRetryable,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { FeishuApi } from "../api.ts";
import type { FeishuConfig } from "../config.ts";
import { lookMessageUp } from "../history.ts";
import { limits } from "../limits.ts";
import type { Place } from "../places.ts";
import type { EventEnvelope } from "./envelope.ts";
import { asEdit } from "./missed.ts";

/** A message that is being checked for edits. */
export interface Followed {
  readonly messageId: string;
  readonly place: Place;
  /** Time of the last known change according to Feishu, in milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Detects edits. Feishu sends no event for an edit, so messages to the bot are read again for several minutes. */
export interface Edits {
  follow(message: Followed): void;
  stop(): void;
}

interface EditsOptions {
  readonly context: ChannelContext<FeishuConfig>;
  readonly api: FeishuApi;
  /** Handles an edit like an event. */
  take(edit: EventEnvelope): Promise<HandleResult>;
}

export function createEdits({ context, api, take }: EditsOptions): Edits {
  const { config, clock } = context;
  const stopping = new AbortController();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const following = new Set<string>();

  async function readAgain({ messageId, place, changedAt }: Followed): Promise<void> {
    let seenAt = changedAt;
    // An edit that was rejected will be read again.
    for (const pauseMs of limits.readBackMs) {
      await clock.delay(pauseMs, signal);
      const item = await read(messageId).catch((error: unknown) => {
        if (!isRetryable(error)) return undefined;
        return "later" as const;
      });
      if (item === "later") continue;
      if (item === undefined || item["deleted"] === true) return;
      const edit = asEdit(item, place, seenAt);
      if (edit === undefined) continue;
      const handled = await take(edit).catch(() => "rejected" as const);
      if (handled !== "rejected") seenAt = edit.at ?? seenAt;
    }
  }

  async function read(messageId: string): Promise<Payload | undefined> {
    const items = await lookMessageUp(api, messageId, signal);
    return items.find((item) => textAt(item, "message_id") === messageId);
  }

  return {
    follow(message) {
      const { messageId } = message;
      if (!config.readEdits || following.has(messageId) || following.size >= limits.followedMessages) return;
      following.add(messageId);
      // When the account ends, the delays end too. That is not an error.
      readAgain(message)
        .catch(() => {})
        .finally(() => following.delete(messageId));
    },
    stop: () => stopping.abort(),
  };
}
