import type { ReconcileResult } from "@signalbox/channel";
import type { DeliveryAccount } from "./account.ts";
import type { ClaimedRow, Millis } from "./outbox.ts";

/** What is known about the first open part of a doubtful row. */
export type Reconciliation =
  | ReconcileResult
  /** To send it again does no harm: the platform knows its key. */
  | { readonly outcome: "repeat" };

/**
 * Finds out the unknown outcome of a send. It is repeated only if the platform recognises repetitions.
 * @throws ChannelError as the channel's `reconcile`
 */
export async function reconcile(
  { definition, running }: DeliveryAccount,
  row: ClaimedRow,
  now: Millis,
  signal: AbortSignal,
): Promise<Reconciliation> {
  const part = row.receipts.length;
  const content = row.payload.parts[part];
  if (content === undefined) return { outcome: "repeat" };
  const { idempotencyKey, readback } = definition.capabilities.delivery;
  // While the platform knows the key it is sure; what reads like the same message may be another one.
  if (idempotencyKey !== undefined && now - row.updatedAt < idempotencyKey.windowMs)
    return { outcome: "repeat" };
  if (readback !== true || running.reconcile === undefined) return { outcome: "unknown" };
  return running.reconcile(
    {
      to: definition.codec.decode(row.address),
      idempotencyKey: row.key,
      part,
      content,
      ...(row.payload.replyTo === undefined ? {} : { replyTo: row.payload.replyTo }),
      attemptedAt: row.updatedAt,
    },
    signal,
  );
}
