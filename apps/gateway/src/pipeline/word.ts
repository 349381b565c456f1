import type { ChannelDefinition } from "@signalbox/channel";
import { answerTo, outboxKey, outboxRow, pendingRows } from "@signalbox/delivery";
import type { LeaseToken, OutboxRow } from "@signalbox/store";
import type { PhrasesOf } from "../configure/phrases-of.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { isHeard, type QueuedMessage } from "./4-queue/message.ts";

export interface WordPorts {
  readonly store: Pick<GatewayStore, "outbox">;
  readonly lease: LeaseToken;
  readonly phrasesOf: PhrasesOf;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly now: () => number;
}

/**
 * Puts a word about a message into the outbox, where no run answers it. Under a key of the message: told again after a
 * crash it is the same word. Gives what is to be delivered; undefined where its sender reads the conversation itself,
 * or nobody is to hear it.
 *
 * @param isAnswer whether the message counts as answered by it
 */
export async function putWord(
  { store, lease, definition, now }: WordPorts,
  message: QueuedMessage,
  text: string,
  { ttlMs, isAnswer }: { readonly ttlMs: number; readonly isAnswer: boolean },
): Promise<readonly OutboxRow<GatewayBodies>[] | undefined> {
  if (!isHeard(message)) return undefined;
  const { id, sessionKey, stored } = message;
  const { event } = stored;
  const capabilities = definition(event.channel, event.account)?.capabilities;
  const payload = answerTo(text, event.messageId, capabilities);
  if (payload === undefined) return undefined;
  const row = outboxRow(event, payload, { expiresAt: now() + ttlMs, claim: false });
  const word = { ...row, key: outboxKey(id), ...(isAnswer ? { answers: [id] } : {}) };
  return pendingRows(await store.outbox.enqueue([word], { lease, sessionKey }));
}
