import type { ReconcileResult } from "@signalbox/channel";
import type { DeliveryAccount } from "./account.ts";
import type { ClaimedRow } from "./outbox.ts";

/** The outcome of the first open part of a doubtful row. */
export type Reconciliation =
  | ReconcileResult
  /** The part can be sent again: the platform deduplicates by its key. */
  | { readonly outcome: "repeat" };

/**
 * Determines whether a part with an unknown outcome was sent. It is repeated only if the platform deduplicates it.
 *
 * @throws ChannelError from the channel's `reconcile`
 */
export async function reconcile(
  { definition, running }: DeliveryAccount,
  row: ClaimedRow,
  now: number,
  signal: AbortSignal,
): Promise<Reconciliation> {
  const part = row.receipts.length;
  const content = row.payload.parts[part];
  if (content === undefined) return { outcome: "repeat" };
  const { idempotencyKey, readback } = definition.capabilities.delivery;
  // Prefer the key while it is valid, because a lookup by content may find another message with the same text.
  if (idempotencyKey !== undefined && now - row.updatedAt < idempotencyKey.windowMs)
    return { outcome: "repeat" };
  if ((readback ?? false) === false || running.reconcile === undefined) return { outcome: "unknown" };
  return running.reconcile(
    {
      to: definition.codec.decode(row.address),
      idempotencyKey: row.key,
      part,
      content,
      replyTo: row.payload.replyTo,
      attemptedAt: row.updatedAt,
    },
    signal,
  );
}
