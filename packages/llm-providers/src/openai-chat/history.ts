import {
  type AssistantMessage,
  type InputBlock,
  isJsonObject,
  type JsonObject,
  type Message,
  type ToolCallBlock,
  type ToolResultMessage,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import { describeOmitted } from "../adapt/media.ts";
import { chatMessages, getSpeech } from "../shared/chat-history.ts";
import {
  AFTER_RESULTS,
  fileName,
  mediaUrl,
  nativeData,
  plainResult,
  toFunctionCall,
} from "../shared/content.ts";
import { objectsAt, unlessEmpty, withoutUndefined } from "../shared/json.ts";
import type { ChatQuirks } from "./quirks.ts";

type Param = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;
/** The SDK does not declare the additional fields of other servers. */
type AssistantParam = OpenAI.ChatCompletionAssistantMessageParam & {
  [field in "reasoning_content" | "reasoning"]?: string;
} & { reasoning_details?: JsonObject[] };

/** Converts a history to chat messages, without the system prompt. */
export function historyMessages(messages: readonly Message[], quirks: ChatQuirks): Param[] {
  return chatMessages<Param>(messages, {
    user: (content) => ({ role: "user", content: typeof content === "string" ? content : content.map(part) }),
    assistant: (turn, isCurrent) =>
      assistantParam(turn, quirks, quirks.reasoningScope === "all" || isCurrent),
    result: (result) => resultParam(result, quirks),
    attached(results) {
      const content = quirks.toolResultImages === "user" ? results.flatMap(attachment) : [];
      return content.length > 0 ? { role: "user", content } : undefined;
    },
    separator: quirks.userAfterTool ? undefined : { role: "assistant", content: AFTER_RESULTS },
  });
}

function part(block: InputBlock): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_url", image_url: { url: mediaUrl(block) } };
    case "audio": {
      if (block.source.kind === "url") return describeOmitted(block);
      const format = /wav/.test(block.mimeType) ? "wav" : "mp3";
      return { type: "input_audio", input_audio: { data: block.source.data, format } };
    }
    case "file":
      if (block.source.kind === "url") return describeOmitted(block);
      return { type: "file", file: { filename: fileName(block), file_data: mediaUrl(block) } };
  }
}

/** Converts a turn of the model. Drops a turn that contains only thinking. */
function assistantParam(
  turn: AssistantMessage,
  quirks: ChatQuirks,
  replay: boolean,
): AssistantParam | undefined {
  const speech = getSpeech(turn);
  if (speech === undefined) return undefined;
  const text = speech.texts.join("");
  return {
    role: "assistant",
    content: text === "" && quirks.emptyContent === "null" ? null : text,
    ...withoutUndefined({ tool_calls: unlessEmpty(speech.calls.map(callParam)) }),
    ...(replay && reasoningFields(turn.content, quirks)),
  };
}

/** Through this API, Gemini sends the signatures of its calls in `extra_content`. */
function callParam(block: ToolCallBlock): OpenAI.ChatCompletionMessageFunctionToolCall {
  const extra = nativeData(block)?.extra_content;
  return { ...toFunctionCall(block), ...(isJsonObject(extra) && { extra_content: extra }) };
}

/**
 * Returns the reasoning of a turn in the field that the server expects. If a turn has no reasoning, servers that
 * require the field accept a blank text, but not an empty one.
 */
function reasoningFields(content: AssistantMessage["content"], quirks: ChatQuirks) {
  const { reasoningField: field, reasoningPlaceholder } = quirks;
  if (field === "none") return {};
  const thoughts = content.filter((block) => block.type === "thinking").filter(nativeData);
  const details = thoughts.flatMap((block) => objectsAt(nativeData(block) ?? {}, "reasoning_details"));
  if (field === "reasoning_details" && details.length > 0) return { reasoning_details: details };
  const hasCalls = content.some(({ type }) => type === "toolCall");
  const isRequired = reasoningPlaceholder === "always" || (reasoningPlaceholder === "calls" && hasCalls);
  const text = thoughts.flatMap((block) => block.text || []).join("\n\n") || (isRequired ? " " : "");
  if (text === "") return {};
  return { [field === "reasoning_details" ? "reasoning" : field]: text };
}

function resultParam(result: ToolResultMessage, quirks: ChatQuirks): Param {
  const { text, media } = plainResult(result);
  const param: Param = { role: "tool", tool_call_id: result.toolCallId, content: text };
  // The SDK declares neither images nor names in tool messages, but other servers accept them.
  const isWithin = quirks.toolResultImages === "tool" && media.length > 0;
  const content = isWithin ? { content: [{ type: "text", text }, ...media.map(part)] } : {};
  return Object.assign(param, content, quirks.toolResultName ? { name: result.toolName } : {});
}

/** The media of a result, for servers that accept none in tool messages. */
function attachment(result: ToolResultMessage): Part[] {
  const { media } = plainResult(result);
  if (media.length === 0) return [];
  return [{ type: "text", text: `Attached to the result of ${result.toolName}:` }, ...media.map(part)];
}
