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
  replayArguments,
  resultMedia,
} from "../shared/content.ts";
import { stated, textAt, unlessEmpty } from "../shared/json.ts";

type Param = ChatCompletionStreamRequest["messages"][number];

/** A history as Mistral's messages, without the system prompt. */
export function historyMessages(messages: readonly Message[]): Param[] {
  const out: Param[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      if (out.at(-1)?.role === "tool") out.push({ role: "assistant", content: AFTER_RESULTS });
      const { content } = message;
      out.push({ role: "user", content: typeof content === "string" ? content : content.map(chunk) });
    } else if (message.role === "assistant") {
      const param = assistantParam(message);
      if (param !== undefined) out.push(param);
    } else {
      const text = plainResult(message);
      const media = resultMedia(message);
      out.push({
        role: "tool",
        toolCallId: message.toolCallId,
        name: message.toolName,
        content: media.length === 0 ? text : [{ type: "text", text }, ...media.map(chunk)],
      });
    }
  }
  return out;
}

function chunk(block: InputBlock): ContentChunk {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_url", imageUrl: mediaUrl(block.mimeType, block.source) };
    case "audio": {
      const { source } = block;
      return { type: "input_audio", inputAudio: source.kind === "url" ? source.url : source.data };
    }
    case "file":
      return {
        type: "document_url",
        documentUrl: mediaUrl(block.mimeType, block.source),
        documentName: fileName(block.mimeType, block.name),
      };
  }
}

function assistantParam(message: AssistantMessage): Param | undefined {
  const parts: ContentChunk[] = [];
  const toolCalls: ToolCall[] = [];
  for (const block of message.content) {
    const data = nativeData(block);
    switch (block.type) {
      case "text":
      case "refusal":
        if (block.text !== "") parts.push({ type: "text", text: block.text });
        break;
      case "thinking": {
        if (data === undefined || block.text === "") break;
        const thinking = [{ type: "text" as const, text: block.text }];
        const signature = textAt(data, "signature");
        parts.push({ type: "thinking", thinking, closed: true, ...stated({ signature }) });
        break;
      }
      case "toolCall":
        toolCalls.push({
          id: block.id,
          type: "function",
          index: toolCalls.length,
          function: { name: block.name, arguments: replayArguments(block) },
        });
        break;
      default:
        break;
    }
  }
  const thought = parts.some(({ type }) => type === "thinking");
  const texts = parts.flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : []));
  if (texts.length === 0 && toolCalls.length === 0) return undefined;
  const content = thought ? parts : texts.join("");
  return { role: "assistant", content, ...stated({ toolCalls: unlessEmpty(toolCalls) }) };
}
