import type {
  AssistantMessage,
  Block,
  FileBlock,
  ImageBlock,
  InputBlock,
  JsonObject,
  ToolResultMessage,
  UserMessage,
} from "@signalbox/agent-core";
import { isTextFile, leftOut } from "../adapt/media.ts";
import { isJsonObject } from "../json.ts";

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function image(block: ImageBlock): JsonObject {
  const { source, mimeType } = block;
  if (source.kind === "url") return { type: "image", source: { type: "url", url: source.url } };
  return { type: "image", source: { type: "base64", media_type: mimeType, data: source.data } };
}

function document(block: FileBlock): JsonObject {
  const { source, mimeType, name } = block;
  const title = name === undefined ? undefined : { title: name };
  if (mimeType === "application/pdf")
    return source.kind === "url"
      ? { type: "document", source: { type: "url", url: source.url }, ...title }
      : { type: "document", source: { type: "base64", media_type: mimeType, data: source.data }, ...title };
  if (source.kind === "base64" && isTextFile(mimeType)) {
    const data = Buffer.from(source.data, "base64").toString("utf8");
    return data.trim() === ""
      ? text(`[file ${name ?? ""} is empty]`)
      : { type: "document", source: { type: "text", media_type: "text/plain", data }, ...title };
  }
  return text(leftOut(block).text);
}

function inputBlock(block: InputBlock): JsonObject | undefined {
  switch (block.type) {
    case "text":
      return block.text.trim() === "" ? undefined : text(block.text);
    case "image":
      return image(block);
    case "file":
      return document(block);
    case "audio":
      return text(leftOut(block).text);
  }
}

function inputBlocks(content: string | readonly InputBlock[]): JsonObject[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [text(content)];
  return content.map(inputBlock).filter((block) => block !== undefined);
}

/** A person's message; the vendor refuses an empty one. */
export function userBlocks(message: UserMessage): JsonObject[] {
  const blocks = inputBlocks(message.content);
  return blocks.length > 0 ? blocks : [text("(empty message)")];
}

/** One tool result; an error must say something. */
export function resultBlock(message: ToolResultMessage): JsonObject {
  const content = inputBlocks(message.content);
  if (content.length === 0 && message.isError) content.push(text("(no output)"));
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    ...(content.length > 0 ? { content } : {}),
    ...(message.isError ? { is_error: true } : {}),
  };
}

function assistantBlock(block: Block): JsonObject | undefined {
  const data = block.native?.data;
  switch (block.type) {
    case "text":
    case "refusal":
      return block.text.trim() === "" ? undefined : text(block.text);
    case "thinking":
      if (!isJsonObject(data)) return undefined;
      if (typeof data.redacted === "string") return { type: "redacted_thinking", data: data.redacted };
      if (typeof data.signature !== "string") return undefined;
      return { type: "thinking", thinking: block.text, signature: data.signature };
    case "toolCall":
      // The vendor takes objects only; what was not one goes back under the name its documentation gives.
      return {
        type: "tool_use",
        id: block.id,
        name: block.name,
        input: block.args ?? { INVALID_JSON: block.argsText },
      };
    case "opaque":
      return isJsonObject(data) ? data : undefined;
    // Goes into the text before it.
    case "citation":
    case "image":
    case "audio":
    case "file":
      return undefined;
  }
}

/** A model's turn; empty where nothing of it can be sent back. */
export function assistantBlocks(message: AssistantMessage): JsonObject[] {
  const blocks: JsonObject[] = [];
  /** Where the text that citations belong to went. */
  let text: number | undefined;
  for (const block of message.content) {
    if (block.type === "citation") {
      const before = text === undefined ? undefined : blocks[text];
      const data = block.native?.data;
      if (text === undefined || before === undefined || !isJsonObject(data)) continue;
      const { citations } = before;
      blocks[text] = { ...before, citations: [...(Array.isArray(citations) ? citations : []), data] };
      continue;
    }
    const made = assistantBlock(block);
    text = made !== undefined && block.type === "text" ? blocks.length : undefined;
    if (made !== undefined) blocks.push(made);
  }
  // Thinking alone is refused, and says nothing without what it led to.
  return blocks.every((block) => block.type === "thinking" || block.type === "redacted_thinking")
    ? []
    : blocks;
}
