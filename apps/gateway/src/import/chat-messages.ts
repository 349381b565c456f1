import type { AgentMessage } from "@signalbox/agent-core";
import type { ImportedGeneration } from "@signalbox/store";
import type { AttachmentFiles } from "./attachments.ts";
import {
  type ImportedTaint,
  MAX_MESSAGES,
  repairHistory,
  taintByTool,
  toAssistantMessage,
  toUserMessage,
} from "./messages.ts";
import { asRecord, asText } from "./settings.ts";

/** A message in the form of OpenAI's chat API, as nanobot and Hermes store it. */
export interface ChatMessage {
  readonly id: string;
  readonly role: string;
  readonly content: unknown;
  /** Calls as a list, or as its JSON. */
  readonly toolCalls?: unknown;
  readonly toolCallId?: string | undefined;
  readonly toolName?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Paths of attachments. */
  readonly media?: unknown;
}

/** Converts the messages of a generation. System messages and thinking are left out. */
export function convertChatMessages(
  messages: readonly ChatMessage[],
  sender: { readonly id: string | undefined; readonly name: string },
  taint: ImportedTaint,
  losses: Set<string>,
  attachments?: AttachmentFiles,
): ImportedGeneration {
  const converted = messages.flatMap((message) => convert(message, sender, taint, losses, attachments) ?? []);
  if (converted.length > MAX_MESSAGES) losses.add(`Only the newest ${MAX_MESSAGES} messages are imported.`);
  const repaired = repairHistory(converted.slice(-MAX_MESSAGES));
  if (repaired.dropped > 0) losses.add("Calls of tools without a result, or messages without a question.");
  return {
    startedAt: messages[0]?.at ?? 0,
    entries: repaired.messages.map((message) => ({ message, at: message.timestamp })),
  };
}

function convert(
  message: ChatMessage,
  sender: { readonly id: string | undefined; readonly name: string },
  taint: ImportedTaint,
  losses: Set<string>,
  attachments: AttachmentFiles | undefined,
): AgentMessage | undefined {
  const { id, role, at, toolCallId = "", toolName = "unknown" } = message;
  const text = textOf(message.content, losses, attachments !== undefined && hasMedia(message));
  if (role === "user")
    return toUserMessage({
      messageId: `import:${id}`,
      senderName: sender.name,
      senderId: sender.id,
      text: [text, ...(attachments?.describe(message.media, losses) ?? [])].join("\n"),
      timestamp: at,
    });
  if (role === "tool") {
    taintByTool(taint, toolName);
    return {
      role: "toolResult",
      toolCallId,
      toolName,
      content: [{ type: "text", text: text || "(no text)" }],
      isError: false,
      timestamp: at,
    };
  }
  if (role !== "assistant") return undefined;
  const calls = listCalls(message.toolCalls);
  const converted = toAssistantMessage({
    texts: [text],
    calls,
    stopReason: calls.length > 0 ? "tool_use" : "end_turn",
    timestamp: at,
  });
  return converted.content.length === 0 ? undefined : converted;
}

function listCalls(value: unknown): readonly { id: string; name: string; args: unknown }[] {
  const list = typeof value === "string" ? parseList(value) : value;
  return (Array.isArray(list) ? list : []).flatMap((each) => {
    const call = asRecord(each);
    const run = asRecord(call?.["function"]) ?? call;
    const id = asText(call?.["id"]);
    const name = asText(run?.["name"]);
    return id === undefined || name === undefined ? [] : [{ id, name, args: run?.["arguments"] }];
  });
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return [];
  }
}

const hasMedia = ({ media }: ChatMessage): boolean => Array.isArray(media) && media.length > 0;

/** @param isListed true if the attachments of the content are listed elsewhere, too */
function textOf(content: unknown, losses: Set<string>, isListed: boolean): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block) => {
      const record = asRecord(block);
      if (typeof record?.["text"] === "string") return record["text"];
      if (isListed) return "";
      losses.add("Attachments are named, and their files are not copied.");
      return `[attachment: ${asText(record?.["type"]) ?? "file"}, not kept]`;
    })
    .filter((text) => text !== "")
    .join("\n");
}
