import {
  allowAnyMedia,
  type Capabilities,
  ChannelError,
  type Clock,
  type Outbound,
  type OutboundPart,
  type Receipt,
  readMedia,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import type { IMessageAddress } from "../address.ts";
import type { KnownChats } from "../chats.ts";
import { limits } from "../limits.ts";
import type { MessageToSend, Transport } from "../transport.ts";
import { findMatching } from "./matching-rows.ts";
import { toText } from "./text.ts";

export const sendMedia: NonNullable<Capabilities["sendMedia"]> = allowAnyMedia(limits.uploadBytes);

export interface Outgoing {
  readonly transport: Transport;
  readonly chats: KnownChats;
  readonly clock: Clock;
}

/** Sends a message. Each part becomes one message. */
export function sendMessage(
  outgoing: Outgoing,
  to: IMessageAddress,
  message: Outbound,
  options: SendOptions,
): Promise<Receipt> {
  const { transport, chats, clock } = outgoing;
  return sendParts(message, options, async ({ part, key, replyTo }) => {
    const startedAt = clock.now();
    const toSend = { to, key, replyTo, signal: options.signal };
    const guid =
      (await sendPart(transport, part, toSend, options)) ??
      (await findGuid(outgoing, to, part, startedAt, options));
    // The message was sent, although its row has not appeared yet.
    if (guid === undefined) return `sent:${key}`;
    chats.noteSent(key, guid);
    return guid;
  });
}

async function sendPart(
  transport: Transport,
  part: OutboundPart,
  message: MessageToSend,
  { openMedia }: SendOptions,
): Promise<string | undefined> {
  if (part.type === "media")
    return transport.sendFile(part, await readMedia(part, sendMedia, openMedia), message);
  const text = toText(part);
  if (text.length > limits.partLength)
    throw new ChannelError(
      "too_large",
      `iMessage: a message can have at most ${limits.partLength} characters`,
    );
  return transport.sendText(text, message);
}

/** Looks for the row of a message that was sent without an id. */
async function findGuid(
  { transport, chats, clock }: Outgoing,
  to: IMessageAddress,
  part: OutboundPart,
  startedAt: number,
  { signal }: SendOptions,
): Promise<string | undefined> {
  for (const deadline = startedAt + limits.lateRowMs; clock.now() < deadline && !signal.aborted; ) {
    const since = startedAt - limits.clockSkewMs;
    const rows = await transport.findSent(to, since, signal).catch(() => undefined);
    const [match] = findMatching(rows ?? [], part, chats);
    if (match !== undefined) return match.guid;
    await clock.delay(limits.searchEveryMs, signal).catch(() => {});
  }
  return undefined;
}
