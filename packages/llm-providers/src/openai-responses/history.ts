import type {
  AssistantMessage,
  InputBlock,
  JsonObject,
  Message,
  RefusalBlock,
  TextBlock,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import { describeOmitted } from "../adapt/media.ts";
import {
  fileName,
  isVendorData,
  mediaUrl,
  nativeData,
  plainResult,
  replayArguments,
} from "../shared/content.ts";
import { objectsAt, textAt, withoutUndefined } from "../shared/json.ts";

type Item = OpenAI.Responses.ResponseInputItem;
const PHASES = ["commentary", "final_answer"] as const;

type UrlCitation = OpenAI.Responses.ResponseOutputText.URLCitation;

/** Converts a history to input items. Items from this model are sent back unchanged, others without ids. */
export function historyItems(messages: readonly Message[]): Item[] {
  return messages.flatMap((message): Item[] => {
    if (message.role === "assistant") return assistantItems(message);
    if (message.role === "user") {
      const { content } = message;
      return [{ role: "user", content: typeof content === "string" ? content : content.map(inputPart) }];
    }
    const { text, media } = plainResult(message);
    const parts = [{ type: "input_text" as const, text }, ...media.map(inputPart)];
    const output = media.length === 0 ? text : parts;
    return [{ type: "function_call_output", call_id: message.toolCallId, output }];
  });
}

/** Converts a block from a user or a tool. */
function inputPart(block: InputBlock): OpenAI.Responses.ResponseInputContent {
  switch (block.type) {
    case "text":
      return { type: "input_text", text: block.text };
    case "image":
      return { type: "input_image", detail: "auto", image_url: mediaUrl(block) };
    case "file":
      if (block.source.kind === "url") return { type: "input_file", file_url: block.source.url };
      return { type: "input_file", filename: fileName(block), file_data: mediaUrl(block) };
    case "audio":
      return { type: "input_text", text: describeOmitted(block).text };
  }
}

/**
 * Converts one turn. The API requires that each reasoning item is followed by its output item, and that an item with an
 * id is preceded by its reasoning. Reasoning at the end is therefore dropped, and an item whose reasoning was dropped
 * loses its id.
 */
function assistantItems({ content }: AssistantMessage): Item[] {
  const items: Item[] = [];
  for (const block of content) {
    const data = nativeData(block);
    switch (block.type) {
      case "text":
      case "refusal":
        addText(items, block, data);
        break;
      case "citation":
        cite(items.at(-1), data);
        break;
      case "toolCall": {
        const call = { call_id: block.id, name: block.name, arguments: replayArguments(block) };
        items.push({
          type: "function_call",
          ...call,
          ...withoutUndefined({ id: replayableId(items, data) }),
        });
        break;
      }
      case "thinking":
        if (data !== undefined && isReplayable(data) && isItem(data)) items.push(data);
        break;
      case "opaque":
        if (data !== undefined && isItem(data)) items.push(data);
        break;
      case "image": {
        const whole = block.source.kind === "base64" && { ...data, result: block.source.data };
        if (whole && isItem(whole)) items.push(whole);
        break;
      }
    }
  }
  // The turn may have been truncated after its reasoning.
  return items.slice(0, items.findLastIndex((item) => !("type" in item) || item.type !== "reasoning") + 1);
}

/** Returns the id of an item unless the reasoning before it was dropped. */
function replayableId(items: readonly Item[], data: JsonObject | undefined): string | undefined {
  const isThere = (after: unknown): boolean => items.some((item) => "id" in item && item.id === after);
  if (data === undefined || (data.after !== undefined && !isThere(data.after))) return undefined;
  return textAt(data, "id");
}

function addText(items: Item[], block: TextBlock | RefusalBlock, data: JsonObject | undefined): void {
  const { type, text } = block;
  const id = replayableId(items, data);
  if (id === undefined) {
    if (text !== "") items.push({ role: "assistant", content: text });
    return;
  }
  const part: OpenAI.Responses.ResponseOutputMessage["content"][number] =
    type === "refusal" ? { type, refusal: text } : { type: "output_text", text, annotations: [] };
  const last = items.at(-1);
  if (last?.type === "message" && "id" in last && last.id === id) {
    last.content.push(part);
    return;
  }
  const phase = PHASES.find((word) => word === data?.phase);
  const message = { type: "message", role: "assistant", id, status: "completed" } as const;
  items.push({ ...message, content: [part], ...withoutUndefined({ phase }) });
}

function cite(item: Item | undefined, data: JsonObject | undefined): void {
  const part = item?.type === "message" && "id" in item ? item.content.at(-1) : undefined;
  if (part?.type === "output_text" && isVendorData<UrlCitation>(data)) part.annotations.push(data);
}

/** Returns true if stored vendor data can be sent back as an item, which requires an id. */
function isItem(data: JsonObject): data is JsonObject & Item {
  return isVendorData<Item>(data) && typeof data.id === "string";
}

/**
 * Returns true if reasoning can be sent back. The vendor stores none, and servers without encryption send it as plain
 * text.
 */
function isReplayable(reasoning: JsonObject): boolean {
  return textAt(reasoning, "encrypted_content") !== undefined || objectsAt(reasoning, "content").length > 0;
}
