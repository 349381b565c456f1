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

/** Looks for a message whose outcome is open among those that the chat has of the bot. */
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
  // A thread is not listed, and what is on a later page was not seen.
  const isPartial = to.rootId !== undefined || items.length >= pageSize;
  if (content.type === "media") {
    return reconciledFrom(undefined, !isPartial && !own.some((item) => mayBe(item, content)));
  }
  // What is of a kind that Feishu does not take was never sent.
  if (content.type === "poll") return { outcome: "not_sent" };
  const wanted = letters(content.text);
  const { msgType } = renderPart(content);
  // A draft may show the same words; it is another message.
  const match = own.find((item) => item["msg_type"] === msgType && letters(wordsOf(item)) === wanted);
  const messageId = match === undefined ? undefined : textAt(match, "message_id");
  // A card comes back without its words.
  const isBlind = msgType === "interactive" && own.some((item) => item["msg_type"] === "interactive");
  return reconciledFrom(messageId, !isBlind && !isPartial);
}

/**
 * An attachment comes back without its bytes, as what its kind is sent as, or as a file where Feishu did not take it.
 */
function mayBe(item: Payload, { kind }: MediaPart): boolean {
  return [kind === "video" ? "media" : kind, "file"].includes(textAt(item, "msg_type") ?? "");
}

/** What is the same on both sides of Feishu's own Markdown: letters and digits, or where there are none all of it. */
function letters(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, "") || text.trim();
}
