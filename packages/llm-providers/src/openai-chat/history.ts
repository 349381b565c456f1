import type {
  AssistantMessage,
  InputBlock,
  JsonValue,
  Message,
  ToolResultMessage,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import { leftOut } from "../adapt/media.ts";
import {
  AFTER_RESULTS,
  fileName,
  mediaUrl,
  nativeData,
  plainResult,
  replayArguments,
  resultMedia,
} from "../shared/content.ts";
import { isRaw } from "../shared/json.ts";
import { groupResults } from "../shared/turns.ts";
import type { ChatQuirks } from "./quirks.ts";

type Param = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;
type ToolPart = OpenAI.ChatCompletionContentPartText;
/** Fields of other servers ride along on the SDK's own message. */
type AssistantParam = OpenAI.ChatCompletionAssistantMessageParam & {
  [field in "reasoning_content" | "reasoning" | "reasoning_details"]?: JsonValue;
};

/** A history as chat messages, without the system prompt. */
export function historyMessages(messages: readonly Message[], quirks: ChatQuirks): Param[] {
  const out: Param[] = [];
  const groups = groupResults(messages);
  const lastUser = groups.findLastIndex(({ role }) => role === "user");
  for (const [at, group] of groups.entries()) {
    if (group.role === "toolResults") out.push(...resultParams(group.results, quirks));
    else if (group.role === "assistant") {
      const replay = quirks.reasoningScope === "all" || at > lastUser;
      const param = assistantParam(group, quirks, replay);
      if (param !== undefined) out.push(param);
    } else {
      if (!quirks.userAfterTool && out.at(-1)?.role === "tool")
        out.push({ role: "assistant", content: AFTER_RESULTS });
      const { content } = group;
      out.push({ role: "user", content: typeof content === "string" ? content : content.map(part) });
    }
  }
  return out;
}

function part(block: InputBlock): Part {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_url", image_url: { url: mediaUrl(block.mimeType, block.source) } };
    case "audio":
      if (block.source.kind === "url") return leftOut(block);
      return {
        type: "input_audio",
        input_audio: { data: block.source.data, format: /wav/.test(block.mimeType) ? "wav" : "mp3" },
      };
    case "file":
      if (block.source.kind === "url") return leftOut(block);
      return {
        type: "file",
        file: {
          filename: fileName(block.mimeType, block.name),
          file_data: mediaUrl(block.mimeType, block.source),
        },
      };
  }
}

function assistantParam(
  message: AssistantMessage,
  quirks: ChatQuirks,
  replay: boolean,
): AssistantParam | undefined {
  const text: string[] = [];
  const thinking: string[] = [];
  const details: JsonValue[] = [];
  const calls: OpenAI.ChatCompletionMessageFunctionToolCall[] = [];
  for (const block of message.content) {
    const data = nativeData(block);
    switch (block.type) {
      case "text":
      case "refusal":
        if (block.text !== "") text.push(block.text);
        break;
      case "thinking":
        if (data === undefined) break;
        if (block.text !== "") thinking.push(block.text);
        if (Array.isArray(data.reasoning_details)) details.push(...data.reasoning_details);
        break;
      case "toolCall":
        calls.push({
          id: block.id,
          type: "function",
          function: { name: block.name, arguments: replayArguments(block) },
          // Gemini behind this dialect signs its calls here.
          ...(isRaw(data?.extra_content) ? { extra_content: data.extra_content } : {}),
        });
        break;
      default:
        break;
    }
  }
  if (text.length === 0 && calls.length === 0) return undefined;
  const empty = quirks.emptyContent === "null" ? null : "";
  const param: AssistantParam = { role: "assistant", content: text.length > 0 ? text.join("") : empty };
  if (calls.length > 0) param.tool_calls = calls;
  return replay ? { ...param, ...reasoningIn(quirks.reasoningField, thinking, details) } : param;
}

/** What was thought, in the field where the server has it. */
function reasoningIn(
  field: ChatQuirks["reasoningField"],
  thinking: readonly string[],
  details: JsonValue[],
): Partial<AssistantParam> {
  if (field === "none") return {};
  if (field === "reasoning_details" && details.length > 0) return { reasoning_details: details };
  if (thinking.length === 0) return {};
  return { [field === "reasoning_details" ? "reasoning" : field]: thinking.join("\n\n") };
}

function resultParams(results: readonly ToolResultMessage[], quirks: ChatQuirks): Param[] {
  const out: Param[] = [];
  const after: Part[] = [];
  for (const result of results) {
    const media = resultMedia(result);
    const text: ToolPart = { type: "text", text: plainResult(result) };
    const inline = quirks.toolResultImages === "tool" ? media.map(part) : [];
    if (quirks.toolResultImages === "user" && media.length > 0) {
      after.push({ type: "text", text: `Attached to the result of ${result.toolName}:` }, ...media.map(part));
    }
    const param: Param = { role: "tool", tool_call_id: result.toolCallId, content: text.text };
    // Images and names in tool messages are other servers' additions to what the SDK declares.
    const content = inline.length > 0 ? { content: [text, ...inline] } : {};
    out.push(Object.assign(param, content, quirks.toolResultName ? { name: result.toolName } : {}));
  }
  if (after.length > 0) {
    if (!quirks.userAfterTool) out.push({ role: "assistant", content: AFTER_RESULTS });
    out.push({ role: "user", content: after });
  }
  return out;
}
