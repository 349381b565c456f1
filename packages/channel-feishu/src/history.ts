import { Readable } from "node:stream";
import {
  type ChannelContext,
  ChannelError,
  type FetchedMedia,
  type HistoryMessage,
  type MediaPart,
  type MediaRef,
  type Reconciled,
  type SendIntent,
} from "@signalbox/channel";
import type { FeishuAddress } from "./address.ts";
import { type FeishuApi, segment } from "./api.ts";
import type { FeishuConfig } from "./config.ts";
import { readContent } from "./content.ts";
import { limits } from "./limits.ts";
import { readMentions, writeMentions } from "./mentions.ts";
import type { People } from "./people.ts";
import { isRaw, objectAt, type Raw, textAt, timeAt } from "./raw.ts";
import { renderPart } from "./render.ts";

/** What can be read back: messages, whether a send went out, attachments. */
export interface Archive {
  history(
    to: FeishuAddress,
    options: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
  ): Promise<readonly HistoryMessage[]>;
  reconcile(intent: SendIntent<FeishuAddress>, signal: AbortSignal): Promise<Reconciled>;
  fetchMedia(ref: MediaRef, signal: AbortSignal): Promise<FetchedMedia>;
}

/** How far the platform's clock may be from ours. */
const skewMs = 60_000;
/** How long after its first try a message may still have come out. */
const latestMs = 3_600_000;
const pageSize = 50;

export function createArchive(
  context: Pick<ChannelContext<FeishuConfig>, "config">,
  api: FeishuApi,
  people: People,
): Archive {
  /** One page of a chat, newest first. */
  async function page(
    chatId: string,
    span: { readonly start?: number; readonly end?: number; readonly size: number },
    signal: AbortSignal,
  ): Promise<readonly Raw[]> {
    const seconds = (ms: number) => String(Math.floor(ms / 1000));
    const answer = await api.call({ what: "reading a chat", write: false, signal }, (client) =>
      client.im.v1.message.list({
        params: {
          container_id_type: "chat",
          container_id: chatId,
          sort_type: "ByCreateTimeDesc",
          page_size: span.size,
          ...(span.start === undefined ? {} : { start_time: seconds(span.start) }),
          ...(span.end === undefined ? {} : { end_time: seconds(span.end) }),
        },
      }),
    );
    return (answer.data?.items ?? []).filter(isRaw);
  }

  function chatOf({ id }: FeishuAddress): string {
    if (id.startsWith("oc_")) return id;
    throw new ChannelError("unsupported", "Feishu: only a chat can be read, not the address of a person");
  }

  return {
    async history(to, { limit, before, signal }) {
      const size = Math.min(Math.max(limit, 1), pageSize);
      const found = await page(
        chatOf(to),
        { size, ...(before === undefined ? {} : { end: before }) },
        signal,
      );
      return found
        .filter(
          (item) =>
            item["deleted"] !== true && (before === undefined || (timeAt(item, "create_time") ?? 0) < before),
        )
        .slice(0, limit)
        .flatMap((item) => readItem(item, context.config.appId, people.known()?.id))
        .reverse();
    },

    async reconcile(intent, signal) {
      if (!intent.to.id.startsWith("oc_")) return { outcome: "unknown" };
      const { attemptedAt } = intent;
      const span = { start: attemptedAt - skewMs, end: attemptedAt + latestMs, size: pageSize };
      const found = await page(intent.to.id, span, signal);
      const own = found.filter((item) => textAt(objectAt(item, "sender"), "id") === context.config.appId);
      if (intent.content.type === "media") {
        return readBack(intent.content, own, found.length >= pageSize || intent.to.rootId !== undefined);
      }
      const wanted = letters(intent.content.text);
      const { msgType } = renderPart(intent.content);
      // A draft may show the same words; it is another message.
      const match = own.find((item) => item["msg_type"] === msgType && letters(wordsOf(item)) === wanted);
      const messageId = match === undefined ? undefined : textAt(match, "message_id");
      if (messageId !== undefined) return { outcome: "sent", messageId };
      // A card comes back without its words, a thread is not listed, and what is on a later page was not seen.
      const blind = msgType === "interactive" && own.some((item) => item["msg_type"] === "interactive");
      return blind || intent.to.rootId !== undefined || found.length >= pageSize
        ? { outcome: "unknown" }
        : { outcome: "not-sent" };
    },

    async fetchMedia(media, signal) {
      const ref = isRaw(media.ref) ? media.ref : {};
      const messageId = textAt(ref, "messageId");
      const key = textAt(ref, "key");
      const type = textAt(ref, "type");
      if (messageId === undefined || key === undefined || (type !== "image" && type !== "file")) {
        throw new ChannelError("invalid", "Feishu: not a reference to an attachment");
      }
      const answer = await api.call({ what: "fetching an attachment", write: false, signal }, (client) =>
        client.im.v1.messageResource.get({
          path: { message_id: segment(messageId), file_key: segment(key) },
          params: { type },
        }),
      );
      const headers: unknown = answer.headers;
      const mimeType = isRaw(headers) ? textAt(headers, "content-type")?.split(";")[0]?.trim() : undefined;
      const size = isRaw(headers) ? Number(headers["content-length"]) : Number.NaN;
      const stream = answer.getReadableStream();
      if (size > limits.mediaBytes) {
        stream.destroy();
        throw new ChannelError("too_large", `Feishu: the attachment is over ${limits.mediaBytes} bytes`);
      }
      return {
        body: Readable.toWeb(stream),
        mimeType: mimeType ?? "application/octet-stream",
        ...(size >= 0 ? { size } : {}),
        ...(media.name === undefined ? {} : { name: media.name }),
      };
    },
  };
}

/** An attachment comes back without its bytes, so that only its absence can be told. */
function readBack({ kind }: MediaPart, own: readonly Raw[], unseen: boolean): Reconciled {
  // Either what its kind is sent as, or a file where Feishu did not take it for that.
  const types = [kind === "video" ? "media" : kind, "file"];
  const like = own.some((item) => types.includes(textAt(item, "msg_type") ?? ""));
  return { outcome: like || unseen ? "unknown" : "not-sent" };
}

function readItem(item: Raw, appId: string, selfId: string | undefined): readonly HistoryMessage[] {
  const messageId = textAt(item, "message_id");
  const sender = objectAt(item, "sender");
  const id = textAt(sender, "id");
  const timestamp = timeAt(item, "create_time");
  if (messageId === undefined || id === undefined || timestamp === undefined) return [];
  const isSelf = id === appId;
  const isBot = sender["sender_type"] !== "user";
  const text = writeMentions(wordsOf(item), readMentions(item, selfId));
  return [{ messageId, timestamp, text, sender: { id: isSelf ? (selfId ?? id) : id, isBot, isSelf } }];
}

function wordsOf(item: Raw): string {
  const content = textAt(objectAt(item, "body"), "content") ?? "";
  return readContent(textAt(item, "msg_type") ?? "", content, textAt(item, "message_id") ?? "")?.text ?? "";
}

/** What is the same on both sides of Feishu's own Markdown: letters and digits. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "");
}
