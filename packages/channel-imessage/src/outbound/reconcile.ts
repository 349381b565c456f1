import { getPartKey, type ReconcileResult, reconciledFrom, type SendIntent } from "@signalbox/channel";
import type { IMessageAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { findMatching } from "./matching-rows.ts";
import type { Outgoing } from "./send.ts";

/**
 * Looks for a message with an unknown outcome among the account's messages in the conversation. Messages has no
 * idempotency key, so a message is recognized by its content. One with a receipt is another message. If several
 * messages match, or the conversation is unknown, the outcome stays unknown.
 */
export async function reconcile(
  { transport, chats, clock }: Outgoing,
  { to, content, attemptedAt, idempotencyKey, part }: SendIntent<IMessageAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const key = getPartKey(idempotencyKey, part);
  const known = chats.sentAs(key);
  if (known !== undefined) return { outcome: "sent", messageId: known };
  const since = attemptedAt - limits.clockSkewMs;
  for (;;) {
    const isLate = clock.now() - attemptedAt > limits.lateRowMs;
    const rows = await transport.findSent(to, since, signal);
    const [match, ...more] = findMatching(rows ?? [], content, chats);
    if (more.length > 0) return { outcome: "unknown" };
    if (match !== undefined) {
      chats.noteSent(key, match.guid);
      return { outcome: "sent", messageId: match.guid };
    }
    if (isLate) return reconciledFrom(undefined, rows !== undefined && rows.length < limits.searchedMessages);
    await clock.delay(limits.searchEveryMs, signal).catch(() => {});
    if (signal.aborted) return { outcome: "unknown" };
  }
}
