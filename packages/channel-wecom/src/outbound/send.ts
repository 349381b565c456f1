import {
  type ChannelContext,
  ChannelError,
  isChannelError,
  type MediaPart,
  type Outbound,
  type Receipt,
  type SendOptions,
  sendParts,
} from "@signalbox/channel";
import { parseMessageId, type ReceivedMessage, type WecomAddress } from "../address.ts";
import { commands } from "../connection/frames.ts";
import type { Link } from "../connection/link.ts";
import { isReplyExpired, isStreamEnded } from "../errors.ts";
import { limits } from "../limits.ts";
import { renderPart } from "./markdown.ts";
import { upload } from "./upload.ts";

/** A state of a message that is a stream. */
export interface StreamFrame {
  /** Identifies the message. Frames with the same id replace its content. */
  readonly id: string;
  readonly content: string;
  readonly finish: boolean;
}

/** Sends messages over the long connection. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: WecomAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Creates or updates a reply. */
  putStream(reqId: string, frame: StreamFrame, signal: AbortSignal): Promise<void>;
  /** Returns true if this process has tried to finish a stream. */
  hasTriedToFinish(id: string): boolean;
}

/** Maximum number of finished streams that are remembered. */
const MAX_FINISHED = 1_000;

export function createSender({
  clock,
  link,
}: Pick<ChannelContext, "clock"> & { readonly link: Link }): Sender {
  const finished = new Set<string>();

  async function putStream(
    reqId: string,
    { id, content, finish }: StreamFrame,
    signal: AbortSignal,
  ): Promise<void> {
    const frame = {
      cmd: commands.respond,
      headers: { req_id: reqId },
      body: { msgtype: "stream", stream: { id, finish, content } },
    };
    try {
      await link.request({ frame, what: "replying", signal });
    } finally {
      if (finish) remember(finished, id);
    }
  }

  /** Sends a message without a reply. WeCom returns no id, so that of the frame is used. */
  async function push(
    to: WecomAddress,
    content: Readonly<Record<string, unknown>>,
    key: string,
    signal: AbortSignal,
  ): Promise<string> {
    const id = `${commands.send}_${key}`;
    const frame = { cmd: commands.send, headers: { req_id: id }, body: { chatid: to.id, ...content } };
    await link.request({ frame, what: "sending a message", signal });
    return id;
  }

  async function pushMedia(
    to: WecomAddress,
    part: MediaPart,
    key: string,
    options: SendOptions,
  ): Promise<string> {
    const content = { msgtype: part.kind, [part.kind]: { media_id: await upload(link, part, options) } };
    return push(to, content, key, options.signal);
  }

  async function sendText(
    to: WecomAddress,
    content: string,
    key: string,
    { replyTo, signal }: { readonly replyTo: string | undefined; readonly signal: AbortSignal },
  ): Promise<string> {
    const reqId = findReqId(replyTo, clock.now());
    try {
      if (reqId !== undefined) {
        await putStream(reqId, { id: key, content, finish: true }, signal);
        return key;
      }
    } catch (error) {
      // An earlier attempt has sent this part.
      if (isStreamEnded(error)) return key;
      if (!isReplyExpired(error)) throw error;
    }
    return push(to, { msgtype: "markdown", markdown: { content } }, key, signal);
  }

  return {
    putStream,
    hasTriedToFinish: (id) => finished.has(id),
    send: (to, message, options) =>
      sendParts(message, options, ({ part, index, key, ...form }) => {
        if (part.type === "media") return pushMedia(to, part, key, options);
        // All parts of an answer are replies, because only replies can be repeated without a second message.
        const replyTo = index === 0 ? form.replyTo : message.replyTo;
        return sendText(to, renderPart(part), key, { replyTo, signal: options.signal });
      }),
  };
}

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  for (const oldest of ids) {
    if (ids.size <= MAX_FINISHED) return;
    ids.delete(oldest);
  }
}

/** Returns the `req_id` for a reply to a message, or `undefined` if it cannot be replied to. */
export function findReqId(messageId: string | undefined, now: number): string | undefined {
  const message = messageId === undefined ? undefined : tryToParse(messageId);
  if (message === undefined || now - message.sentAt >= limits.replyWindowMs) return undefined;
  return message.reqId;
}

function tryToParse(messageId: string): ReceivedMessage | undefined {
  try {
    return parseMessageId(messageId);
  } catch (error) {
    if (!isChannelError(error)) throw error;
    return undefined;
  }
}

/** @throws ChannelError `unsupported` if the message cannot be replied to */
export function getReqId(messageId: string | undefined, now: number): string {
  const reqId = findReqId(messageId, now);
  if (reqId !== undefined) return reqId;
  throw new ChannelError("unsupported", "WeCom: a draft must be a reply to a message of the last day");
}
