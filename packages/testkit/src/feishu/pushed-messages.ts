import { isRaw } from "../raw.ts";
import type { Messages } from "./messages.ts";

/** Stores the message of a sent event, so that it can be replied to. */
export function takePushed(messages: Messages, chatModes: Map<string, string>, event: unknown): void {
  const inner = isRaw(event) ? event["event"] : undefined;
  const message = isRaw(inner) ? inner["message"] : undefined;
  const sender = isRaw(inner) && isRaw(inner["sender"]) ? inner["sender"]["sender_id"] : undefined;
  if (!isRaw(message) || typeof message["message_id"] !== "string" || messages.all.has(message["message_id"]))
    return;
  const text = (key: string) => (typeof message[key] === "string" ? message[key] : undefined);
  const type = text("chat_type") ?? "group";
  chatModes.set(text("chat_id") ?? "", type === "topic_group" ? "topic" : type);
  const [rootId, parentId, threadId] = [text("root_id"), text("parent_id"), text("thread_id")];
  messages.plant({
    messageId: message["message_id"],
    chatId: text("chat_id") ?? "",
    msgType: text("message_type") ?? "text",
    content: text("content") ?? "{}",
    senderId: isRaw(sender) && typeof sender["open_id"] === "string" ? sender["open_id"] : "",
    rootId,
    parentId,
    threadId,
    mentions: Array.isArray(message["mentions"]) ? message["mentions"].map(asInHistory) : undefined,
  });
}

/** A mention has an object of ids in an event, and only the open id in the history. */
function asInHistory(mention: unknown): unknown {
  const ids = isRaw(mention) ? mention["id"] : undefined;
  return isRaw(mention) && isRaw(ids) ? { ...mention, id: ids["open_id"], id_type: "open_id" } : mention;
}
