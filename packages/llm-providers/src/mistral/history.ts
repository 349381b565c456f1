import type {
  ChatCompletionStreamRequest,
  ContentChunk,
  ToolCall,
} from "@mistralai/mistralai/models/components";
import type { AssistantMessage, InputBlock, Message } from "@signalbox/agent-core";
import {
  AFTER_RESULTS,
  fileName,
  mediaUrl,
  nativeData,
  plainResult,
  toFunctionCall,
} from "../shared/content.ts";
import { textAt, unlessEmpty, withoutUndefined } from "../shared/json.ts";

type Param = ChatCompletionStreamRequest["messages"][number];

/** Converts a history to Mistral's messages, without the system prompt. */
export function historyMessages(messages: readonly Message[]): Param[] {
  const out: Param[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      if (out.at(-1)?.role === "tool") out.push({ role: "assistant", content: AFTER_RESULTS });
      const { content } = message;
      out.push({ role: "user", content: typeof content === "string" ? content : content.map(chunk) });
    } else if (message.role === "assistant") {
      out.push(...assistantParams(message));
    } else {
      const { text, media } = plainResult(message);
      const content = media.length === 0 ? text : [{ type: "text" as const, text }, ...media.map(chunk)];
      out.push({ role: "tool", toolCallId: message.toolCallId, name: message.toolName, content });
    }
  }
  return out;
}

function chunk(block: InputBlock): ContentChunk {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_url", imageUrl: mediaUrl(block) };
    case "audio": {
      const { source } = block;
      return { type: "input_audio", inputAudio: source.kind === "url" ? source.url : source.data };
    }
    case "file":
      return { type: "document_url", documentUrl: mediaUrl(block), documentName: fileName(block) };
  }
}

/** Converts a model's turn. A turn that contains only thinking is dropped. */
function assistantParams(message: AssistantMessage): Param[] {
  const texts: string[] = [];
  const parts: ContentChunk[] = [];
  const toolCalls: ToolCall[] = [];
  for (const block of message.content) {
    if (block.type === "toolCall") toolCalls.push({ ...toFunctionCall(block), index: toolCalls.length });
    if (!("text" in block) || block.text === "") continue;
    const { type, text } = block;
    if (type === "text" || type === "refusal") {
      texts.push(text);
      parts.push({ type: "text", text });
    }
    const data = nativeData(block);
    if (type === "thinking" && data !== undefined) {
      const signature = textAt(data, "signature");
      const thinking = [{ type: "text" as const, text }];
      parts.push({ type, thinking, closed: true, ...withoutUndefined({ signature }) });
    }
  }
  if (texts.length === 0 && toolCalls.length === 0) return [];
  const content = parts.length > texts.length ? parts : texts.join("");
  return [{ role: "assistant", content, ...withoutUndefined({ toolCalls: unlessEmpty(toolCalls) }) }];
}
