import {
  type MediaPart,
  objectAt,
  type Payload,
  type ReconcileResult,
  reconciledFrom,
  type SendIntent,
  sendWindow,
  textAt,
} from "@signalbox/channel";
import type { FeishuAddress } from "../address.ts";
import type { FeishuApi } from "../api.ts";
import { listMessages, pageSize, wordsOf } from "../history.ts";
import { renderPart } from "./render.ts";

/** Looks for a message with an unknown outcome among the bot's messages in the chat. */
export async function reconcile(
  api: FeishuApi,
  appId: string,
  intent: SendIntent<FeishuAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { to, content } = intent;
  if (!to.id.startsWith("oc_")) return { outcome: "unknown" };
  const items = await listMessages(api, to.id, sendWindow(intent), signal);
  const own = items.filter((item) => textAt(objectAt(item, "sender"), "id") === appId);
  // Threads are not listed, and later pages are not read.
  const isPartial = to.rootId !== undefined || items.length >= pageSize;
  if (content.type === "media") {
    return reconciledFrom(undefined, !isPartial && !own.some((item) => mayBe(item, content)));
  }
  // Feishu has no polls, so nothing was sent.
  if (content.type === "poll") return { outcome: "not_sent" };
  const wanted = letters(content.text);
  const { msgType } = renderPart(content);
  // A draft with the same text is another message.
  const match = own.find((item) => item["msg_type"] === msgType && letters(wordsOf(item)) === wanted);
  const messageId = match === undefined ? undefined : textAt(match, "message_id");
  // A card entity is returned without its text.
  const isBlind = msgType === "interactive" && own.some((item) => item["msg_type"] === "interactive");
  return reconciledFrom(messageId, !isBlind && !isPartial);
}

/**
 * Compares the type of an attachment, because Feishu does not return its bytes. Rejected images and recordings are sent
 * as files.
 */
function mayBe(item: Payload, { kind }: MediaPart): boolean {
  return [kind === "video" ? "media" : kind, "file"].includes(textAt(item, "msg_type") ?? "");
}

/**
 * Returns the characters that Feishu's Markdown leaves unchanged: letters and digits, or the entire text if it has
 * none.
 */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "") || text.trim();
}
