import type {
  ChatCompletionStreamRequest,
  ContentChunk,
  ToolCall,
} from "@mistralai/mistralai/models/components";
import type { AssistantMessage, Block, InputBlock, Message } from "@signalbox/agent-core";
import { chatMessages, getSpeech } from "../shared/chat-history.ts";
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
  return chatMessages<Param>(messages, {
    user: (content) => ({
      role: "user",
      content: typeof content === "string" ? content : content.map(chunk),
    }),
    assistant: assistantParam,
    result(result) {
      const { text, media } = plainResult(result);
      const content = media.length === 0 ? text : [{ type: "text" as const, text }, ...media.map(chunk)];
      return { role: "tool", toolCallId: result.toolCallId, name: result.toolName, content };
    },
    separator: { role: "assistant", content: AFTER_RESULTS },
  });
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

/** Converts a turn of the model. Drops a turn that contains only thinking. */
function assistantParam(message: AssistantMessage): Param | undefined {
  const speech = getSpeech(message);
  if (speech === undefined) return undefined;
  const toolCalls = speech.calls.map((call, index): ToolCall => ({ ...toFunctionCall(call), index }));
  const parts = message.content.flatMap(partOf);
  const content = parts.some(({ type }) => type === "thinking") ? parts : speech.texts.join("");
  return { role: "assistant", content, ...withoutUndefined({ toolCalls: unlessEmpty(toolCalls) }) };
}

function partOf(block: Block): ContentChunk[] {
  if (!("text" in block) || block.text === "") return [];
  const { type, text } = block;
  if (type === "text" || type === "refusal") return [{ type: "text", text }];
  const data = nativeData(block);
  if (type !== "thinking" || data === undefined) return [];
  const thinking = [{ type: "text" as const, text }];
  return [{ type, thinking, closed: true, ...withoutUndefined({ signature: textAt(data, "signature") }) }];
}
