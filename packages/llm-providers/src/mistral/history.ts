import type {
  ChatCompletionStreamRequest,
  ContentChunk,
  ToolCall,
} from "@mistralai/mistralai/models/components";
import type { AssistantMessage, InputBlock, Message, Model } from "@signalbox/agent-core";
import { fileName, mediaUrl, plainResult, replayArguments, resultMedia } from "../shared/content.ts";
import { textAt } from "../shared/json.ts";
import { AFTER_RESULTS } from "../shared/request.ts";
import { ownData } from "../shared/vendor-data.ts";

type Param = ChatCompletionStreamRequest["messages"][number];

/** A history as Mistral's messages, without the system prompt. */
export function historyMessages(messages: readonly Message[], model: Model): Param[] {
  const out: Param[] = [];
  for (const message of messages) {
    if (message.role === "user") {
      if (out.at(-1)?.role === "tool") out.push({ role: "assistant", content: AFTER_RESULTS });
      const { content } = message;
      out.push({ role: "user", content: typeof content === "string" ? content : content.map(chunk) });
    } else if (message.role === "assistant") {
      const param = assistantParam(message, model);
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
    case "audio":
      return {
        type: "input_audio",
        inputAudio: block.source.kind === "url" ? block.source.url : block.source.data,
      };
    case "file":
      return {
        type: "document_url",
        documentUrl: mediaUrl(block.mimeType, block.source),
        documentName: fileName(block.mimeType, block.name),
      };
  }
}

function assistantParam(message: AssistantMessage, model: Model): Param | undefined {
  const parts: ContentChunk[] = [];
  const toolCalls: ToolCall[] = [];
  let thought = false;
  for (const block of message.content) {
    const data = ownData(block, model);
    switch (block.type) {
      case "text":
      case "refusal":
        if (block.text !== "") parts.push({ type: "text", text: block.text });
        break;
      case "thinking": {
        if (data === undefined || block.text === "") break;
        const signature = textAt(data, "signature");
        thought = true;
        parts.push({
          type: "thinking",
          thinking: [{ type: "text", text: block.text }],
          closed: true,
          ...(signature === undefined ? {} : { signature }),
        });
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
  const said = parts.some((part) => part.type === "text");
  if (!said && toolCalls.length === 0) return undefined;
  const text = parts.map((part) => (part.type === "text" && "text" in part ? part.text : "")).join("");
  return {
    role: "assistant",
    content: thought ? parts : text,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
  };
}
