import {
  getPartKey,
  type OutboundPart,
  type ReconcileResult,
  reconciledFrom,
  type SendIntent,
} from "@signalbox/channel";
import type { IMessageAddress } from "../address.ts";
import type { KnownChats } from "../chats.ts";
import { limits } from "../limits.ts";
import type { Row } from "../row.ts";
import { type Outgoing, toText } from "./send.ts";

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

/** Returns the rows with the content of a part, except for messages with a receipt. */
export function findMatching(
  rows: readonly Row[],
  part: OutboundPart,
  chats: Pick<KnownChats, "isSent">,
): readonly Row[] {
  return rows.filter((row) => row.isFromMe && !chats.isSent(row.guid) && hasContent(row, part));
}

function hasContent({ text, media }: Row, part: OutboundPart): boolean {
  if (part.type !== "media") return normalize(text) === normalize(toText(part)) && media.length === 0;
  return media.some(({ name, size }) => name === part.name && (size === undefined || size === part.size));
}

/** Messages trims texts. */
function normalize(text: string): string {
  return text.replace(/\r\n?/g, "\n").trim();
}
