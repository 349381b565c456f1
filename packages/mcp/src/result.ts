import {
  type ImageBlock,
  type InputBlock,
  isAcceptedImage,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  readImageInfo,
  type ToolResult,
} from "@signalbox/agent-core";

const MAX_IMAGES = 8;

/**
 * Converts the result of a call for the agent loop: text up to `resultChars`, and images that models accept. Structured
 * content is used only if there is no other content, since servers repeat it as text.
 *
 * @throws Error if the result has another form
 */
export function readResult(answer: unknown, resultChars: number): ToolResult {
  const blocks = isJsonObject(answer) ? readBlocks(answer) : undefined;
  if (!isJsonObject(answer) || blocks === undefined)
    throw new Error("the server's result does not have the form of a tool result");
  const texts: string[] = [];
  const images: InputBlock[] = [];
  for (const block of blocks) {
    if (typeof block === "string") texts.push(block);
    else if (!isJsonObject(block)) texts.push(JSON.stringify(block));
    else {
      const data = getImageData(block);
      const image = data !== undefined && images.length < MAX_IMAGES ? toImage(data) : undefined;
      if (image !== undefined) images.push(image);
      else if (block["type"] !== "image") texts.push(toText(block));
      else texts.push(`[an image of the type ${shorten(block["mimeType"])} that cannot be shown]`);
    }
  }
  const structured = answer["structuredContent"];
  if (texts.length === 0 && images.length === 0 && structured !== undefined)
    texts.push(JSON.stringify(structured));
  const text = truncate(texts.join("\n"), resultChars).toWellFormed();
  return {
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...images],
    details: { blocks: blocks.length } satisfies JsonValue,
    ...(answer["isError"] === true || answer["isError"] === "true" ? { isError: true } : {}),
  };
}

/**
 * Returns the content of a result. Some servers send one block or a text instead of a list, or put their data next to
 * the specified members.
 *
 * @returns undefined if the content has another form
 */
function readBlocks(answer: JsonObject): readonly unknown[] | undefined {
  const { content, structuredContent, isError: _isError, _meta, ...others } = answer;
  if (Array.isArray(content)) return content;
  if (typeof content === "string" || isJsonObject(content)) return [content];
  if (content !== undefined && content !== null) return undefined;
  const hasOthers = structuredContent === undefined && Object.keys(others).length > 0;
  return hasOthers ? [JSON.stringify(others)] : [];
}

function toText(block: JsonObject): string {
  const { type, text, uri, mimeType, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "audio") return `[sound of the type ${shorten(mimeType)}]`;
  if (type === "resource_link") return `[a resource: ${shorten(uri)}]`;
  if (type === "resource" && isJsonObject(resource))
    return typeof resource["text"] === "string"
      ? `From ${shorten(resource["uri"])}:\n${resource["text"]}`
      : `[a file: ${shorten(resource["uri"])}]`;
  return JSON.stringify(block);
}

/** Returns the data of an image block or of an embedded resource that is an image. */
function getImageData({ type, data, resource }: JsonObject): JsonValue | undefined {
  if (type === "image") return data ?? null;
  if (type !== "resource" || !isJsonObject(resource)) return undefined;
  const { mimeType, blob } = resource;
  return typeof mimeType === "string" && mimeType.startsWith("image/") ? blob : undefined;
}

/** Detects the type of an image from its bytes, because vendors reject every request that contains an invalid image. */
function toImage(base64: unknown): ImageBlock | undefined {
  if (typeof base64 !== "string") return undefined;
  // Some servers send a data URL.
  const bytes = Buffer.from(base64.replace(/^data:[^,]{0,100},/, ""), "base64");
  const info = readImageInfo(bytes);
  if (info === undefined || !isAcceptedImage(info, bytes.byteLength)) return undefined;
  return {
    type: "image",
    mimeType: info.mimeType,
    source: { kind: "base64", data: bytes.toString("base64") },
  };
}

function shorten(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 300) : "unknown";
}

function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const note = `\n[${text.length - maxChars} more characters were left out]`;
  return text.slice(0, Math.max(0, maxChars - note.length)) + note;
}
