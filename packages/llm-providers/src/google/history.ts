import type { Content, Part } from "@google/genai";
import {
  type AssistantMessage,
  type InputBlock,
  isJsonObject,
  type Message,
  type ToolResultMessage,
} from "@signalbox/agent-core";
import { nativeData, plainResult } from "../shared/content.ts";
import { textAt, unlessEmpty, withoutUndefined } from "../shared/json.ts";
import type { GoogleQuirks } from "./quirks.ts";

/** Passes the signature check for calls from another model (Gemini API documentation, "Thought signatures"). */
const UNSIGNED = "skip_thought_signature_validator";

/** Converts a history to contents that alternate between user and model. The results of one turn share one content. */
export function historyContents(messages: readonly Message[], quirks: GoogleQuirks): Content[] {
  const out: Content[] = [];
  const callIds = new Map<string, string>();
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    const parts = partsOf(message, quirks, callIds);
    if (parts.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.parts = [...(last.parts ?? []), ...parts];
    else out.push({ role, parts });
  }
  return out;
}

/** @param callIds maps our call ids to the vendor's */
function partsOf(message: Message, quirks: GoogleQuirks, callIds: Map<string, string>): Part[] {
  if (message.role === "assistant") return modelParts(message, quirks, callIds);
  if (message.role === "toolResult") return resultParts(message, quirks, callIds.get(message.toolCallId));
  const { content } = message;
  return typeof content === "string" ? [{ text: content }] : content.map(inputPart);
}

function inputPart(block: InputBlock): Part {
  if (block.type === "text") return { text: block.text };
  const { mimeType, source } = block;
  if (source.kind === "url") return { fileData: { mimeType, fileUri: source.url } };
  return { inlineData: { mimeType, data: source.data } };
}

function modelParts({ content }: AssistantMessage, quirks: GoogleQuirks, ids: Map<string, string>): Part[] {
  const firstCall = content.find(({ type }) => type === "toolCall");
  return content.flatMap((block): Part[] => {
    const data = nativeData(block);
    const signature = data && textAt(data, "thoughtSignature");
    const signed = withoutUndefined({ thoughtSignature: signature });
    switch (block.type) {
      case "text":
      case "refusal":
        return block.text !== "" || signature !== undefined ? [{ text: block.text, ...signed }] : [];
      case "thinking":
        return data === undefined ? [] : [{ text: block.text, thought: true, ...signed }];
      case "toolCall": {
        const id = data && textAt(data, "id");
        if (id !== undefined) ids.set(block.id, id);
        const functionCall = { name: block.name, args: { ...block.args }, ...withoutUndefined({ id }) };
        // The first call of a step carries the signature for all calls in it.
        const missing = quirks.signedCalls && block === firstCall && signature === undefined;
        return [{ functionCall, ...(missing ? { thoughtSignature: UNSIGNED } : signed) }];
      }
      case "image":
      case "audio":
        return data !== undefined ? [{ ...inputPart(block), ...signed }] : [];
      case "opaque":
        return isJsonObject(data?.part) ? [{ ...data.part }] : [];
      default:
        return [];
    }
  });
}

function resultParts(message: ToolResultMessage, quirks: GoogleQuirks, id: string | undefined): Part[] {
  const { text, media: blocks } = plainResult(message);
  const media = blocks.map(inputPart);
  const inside = quirks.responseMedia ? media.flatMap(({ inlineData }) => inlineData ?? []) : [];
  const functionResponse = {
    name: message.toolName,
    response: message.isError ? { error: text } : { output: text },
    ...withoutUndefined({ id, parts: unlessEmpty(inside.map((inlineData) => ({ inlineData }))) }),
  };
  return [{ functionResponse }, ...media.filter((part) => !quirks.responseMedia || !part.inlineData)];
}
