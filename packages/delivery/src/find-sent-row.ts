import type { Clock } from "@signalbox/channel";
import type { OutboxRow, OutboxStore } from "./outbox.ts";
import { isUnsent } from "./rows.ts";

/** A message on its platform. */
export interface SentMessage {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
  readonly messageId: string;
}

/**
 * Maximum time in milliseconds to wait for a row that is being sent. The platform's report can arrive before the
 * receipt.
 */
const WAIT_MS = 10_000;
const POLL_MS = 200;

/**
 * Finds the row that became a message. Waits while a row to the same destination is being sent, or was sent in part.
 * Other unsent rows are not awaited, because they may wait for hours.
 *
 * @returns `undefined` if no row became this message, or `busy` if such a row is still unsent after ten seconds
 */
export async function findSentRow(
  outbox: Pick<OutboxStore, "ofMessage" | "hasPartlySent">,
  message: SentMessage,
  clock: Clock,
  signal: AbortSignal,
): Promise<OutboxRow | "busy" | undefined> {
  for (let waited = 0; ; waited += POLL_MS) {
    // Check before the lookup, so that a row that is sent in between is found.
    const isAwaited = await outbox.hasPartlySent(message);
    const row = await outbox.ofMessage(message);
    if (row !== undefined && !isUnsent(row)) return row;
    if (row === undefined && !isAwaited) return undefined;
    if (waited >= WAIT_MS || signal.aborted) return "busy";
    await clock.delay(POLL_MS, signal).catch(() => {});
  }
}
