import type { Content, FunctionResponsePart, Part } from "@google/genai";
import type { AssistantMessage, InputBlock, Message, Model, ToolResultMessage } from "@signalbox/agent-core";
import { plainResult, resultMedia } from "../shared/content.ts";
import { isRaw, type Raw, textAt } from "../shared/json.ts";
import { ownData } from "../shared/vendor-data.ts";
import type { GoogleQuirks } from "./quirks.ts";

/** Documented to pass the signature check for calls another model made. */
const UNSIGNED = "skip_thought_signature_validator";

/** A history as contents that alternate between user and model; results of one turn's calls stand together. */
export function historyContents(messages: readonly Message[], model: Model, quirks: GoogleQuirks): Content[] {
  const out: Content[] = [];
  const callIds = new Map<string, string>();
  const add = (role: "user" | "model", parts: Part[]): void => {
    if (parts.length === 0) return;
    const last = out.at(-1);
    if (last?.role === role) last.parts = [...(last.parts ?? []), ...parts];
    else out.push({ role, parts });
  };
  for (const message of messages) {
    if (message.role === "user") {
      const { content } = message;
      add("user", typeof content === "string" ? [{ text: content }] : content.map(inputPart));
    } else if (message.role === "assistant") {
      add("model", modelParts(message, model, quirks, callIds));
    } else {
      add("user", resultParts(message, quirks, callIds.get(message.toolCallId)));
    }
  }
  return out;
}

/** What a person or a tool contributed, as a part. */
function inputPart(block: InputBlock): Part {
  if (block.type === "text") return { text: block.text };
  const { mimeType, source } = block;
  if (source.kind === "url") return { fileData: { mimeType, fileUri: source.url } };
  return { inlineData: { mimeType, data: source.data } };
}

function modelParts(
  message: AssistantMessage,
  model: Model,
  quirks: GoogleQuirks,
  ids: Map<string, string>,
): Part[] {
  const firstCall = message.content.find(({ type }) => type === "toolCall");
  return message.content.flatMap((block): Part[] => {
    const data = ownData(block, model);
    const signature = data && textAt(data, "thoughtSignature");
    const signed = signature === undefined ? {} : { thoughtSignature: signature };
    switch (block.type) {
      case "text":
      case "refusal":
        return block.text !== "" || signature !== undefined ? [{ text: block.text, ...signed }] : [];
      case "thinking":
        return data === undefined ? [] : [{ text: block.text, thought: true, ...signed }];
      case "toolCall": {
        const id = data && textAt(data, "id");
        if (id !== undefined) ids.set(block.id, id);
        const functionCall = {
          name: block.name,
          args: { ...block.args },
          ...(id === undefined ? {} : { id }),
        };
        // The first call of a step carries the signature, for all that follow it.
        const missing = quirks.signedCalls && block === firstCall && signature === undefined;
        return [{ functionCall, ...(missing ? { thoughtSignature: UNSIGNED } : signed) }];
      }
      case "image":
      case "audio":
        return data !== undefined && block.source.kind === "base64"
          ? [{ inlineData: { mimeType: block.mimeType, data: block.source.data }, ...signed }]
          : [];
      case "opaque":
        return data !== undefined && isRaw(data.part) ? [keptPart(data.part)] : [];
      default:
        return [];
    }
  });
}

/** A part kept as it came. */
function keptPart(part: Raw): Part {
  return { ...part };
}

function resultParts(message: ToolResultMessage, quirks: GoogleQuirks, id: string | undefined): Part[] {
  const text = plainResult(message);
  const media = resultMedia(message);
  const inside: FunctionResponsePart[] = [];
  const beside: Part[] = [];
  for (const block of media) {
    const part = inputPart(block);
    if (quirks.responseMedia && part.inlineData) inside.push({ inlineData: part.inlineData });
    else beside.push(part);
  }
  const functionResponse = {
    name: message.toolName,
    response: message.isError ? { error: text } : { output: text },
    ...(id === undefined ? {} : { id }),
    ...(inside.length > 0 ? { parts: inside } : {}),
  };
  return [{ functionResponse }, ...beside];
}
