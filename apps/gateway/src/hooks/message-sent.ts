import type { MessageEvent, Outbound } from "@signalbox/channel";
import type { MessageSent } from "./hook-points.ts";

/** A reply in the outbox, without the outbox's own draft and kind fields. */
interface SentRow {
  readonly channel: string;
  readonly account: string;
  readonly address: string;
  readonly sessionKey?: string;
  readonly runId?: string;
  readonly payload: Outbound & { readonly draft?: unknown; readonly notice?: unknown };
}

/** A message that a person wrote to an agent. */
interface AskedMessage {
  readonly sessionKey: string;
  readonly stored: { readonly event: Pick<MessageEvent, "channel" | "account" | "address"> };
}

/** Converts an outbox row to the payload of `message_sent`. */
export function sentMessage(row: SentRow): MessageSent {
  const { channel, account, address, sessionKey, runId, payload } = row;
  const { draft: _, notice: __, ...message } = payload;
  return { channel, account, address, sessionKey, runId, message };
}

/** Returns the payload of `message_sent` for a reply that was shown to a client of the gateway. */
export function shownMessage(
  { stored, sessionKey }: AskedMessage,
  runId: string | undefined,
  text: string,
): MessageSent {
  const { channel, account, address } = stored.event;
  return { channel, account, address, sessionKey, runId, message: { parts: [{ type: "markdown", text }] } };
}
