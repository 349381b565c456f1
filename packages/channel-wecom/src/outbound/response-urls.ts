import { createHash } from "node:crypto";
import {
  type ChannelContext,
  ChannelError,
  createRequests,
  isChannelError,
  isPayload,
  type Outbound,
  type Payload,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
} from "@signalbox/channel";
import { parseMessageId } from "../address.ts";
import { getBotId, type WecomConfig } from "../config.ts";
import { toChannelError } from "../errors.ts";
import { limits } from "../limits.ts";
import { renderPart } from "./markdown.ts";

type Context = Pick<ChannelContext<WecomConfig>, "config" | "clock" | "fetch" | "state">;

/**
 * Replies of the webhook transport. WeCom sends a URL with each message, which accepts one reply within an hour.
 * Source: document/path/101138.
 */
export interface ResponseUrls {
  /** Stores the URL of a message, so that it can be answered after a restart. */
  remember(callback: Payload): Promise<void>;
  /** Sends one message as the reply to another one. */
  send(message: Outbound, options: SendOptions): Promise<Receipt>;
}

/** A stored URL. */
interface Slot {
  readonly msgid: string;
  readonly url: string;
  /** The time at which it was stored, in milliseconds since the epoch. */
  readonly at: number;
}

export function createResponseUrls(context: Context): ResponseUrls {
  const { config, clock, state } = context;
  const requests = createRequests({ ...context, platform: "WeCom", timeoutMs: limits.requestTimeoutMs });

  /** A fixed number of keys limits the size of the state. A later message may replace an earlier one. */
  function keyOf(msgid: string): string {
    const slot = createHash("sha256").update(msgid).digest().readUInt32BE(0) % limits.responseUrls;
    return `${getBotId(config)} response url ${slot}`;
  }

  async function find(msgid: string): Promise<Slot | undefined> {
    const stored = await state.get(keyOf(msgid));
    const { at } = isPayload(stored) ? stored : {};
    const url = isPayload(stored) ? textAt(stored, "url") : undefined;
    const isSame = isPayload(stored) && stored["msgid"] === msgid;
    if (!isSame || url === undefined || typeof at !== "number") return undefined;
    return clock.now() - at < limits.responseUrlMs ? { msgid, url, at } : undefined;
  }

  async function reply(replyTo: string | undefined, content: string, signal: AbortSignal): Promise<void> {
    const msgid = replyTo === undefined ? undefined : parseMessageId(replyTo).msgid;
    const slot = msgid === undefined ? undefined : await find(msgid);
    if (slot === undefined) throw noUrl();
    // Removed first, so that a reply whose outcome is unknown is not repeated.
    await state.delete(keyOf(slot.msgid));
    const body = { msgtype: "markdown", markdown: { content } };
    const what = "replying";
    try {
      const answer = await requests.json({ what, url: slot.url, body, signal });
      const { errcode, errmsg } = answer;
      if (typeof errcode === "number" && errcode !== 0)
        throw toChannelError({ errcode, errmsg: typeof errmsg === "string" ? errmsg : undefined }, what);
    } catch (error) {
      const isUnused = isChannelError(error) && error.code !== "unknown_outcome";
      if (isUnused) await state.set(keyOf(slot.msgid), { ...slot });
      throw error;
    }
  }

  return {
    async remember(callback) {
      const msgid = textAt(callback, "msgid");
      const url = textAt(callback, "response_url");
      if (msgid === undefined || url === undefined) return;
      // The URL accepts messages from anyone who knows it, so it must lead to WeCom.
      if (!URL.canParse(url) || new URL(url).origin !== new URL(config.apiBaseUrl).origin) return;
      await state.set(keyOf(msgid), { msgid, url, at: clock.now() });
    },
    send: (message, options) =>
      sendParts(message, options, async ({ part, key }) => {
        await reply(message.replyTo, renderPart(part), options.signal);
        return key;
      }),
  };
}

function noUrl(): ChannelError {
  return new ChannelError(
    "permission",
    "WeCom: with the webhook transport, a bot can only answer a message, once and within an hour",
    { scope: "conversation" },
  );
}
