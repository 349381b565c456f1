import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  type ImageBlock,
  type InputBlock,
  imageInfo,
  isTakenPicture,
  type JsonValue,
  type ToolResult,
} from "@signalbox/agent-core";

const MAX_IMAGES = 8;

/**
 * What a server answered, as the loop takes it: text within the room that a result has, and images that models read.
 */
export function readResult(answer: CallToolResult, resultChars: number): ToolResult {
  const texts: string[] = [];
  const images: InputBlock[] = [];
  for (const block of answer.content) {
    if (block.type !== "image") texts.push(textOf(block));
    else {
      const image = images.length < MAX_IMAGES ? imageOf(block.data) : undefined;
      if (image !== undefined) images.push(image);
      else texts.push(`[an image of the type ${short(block.mimeType)} that cannot be shown]`);
    }
  }
  const structured = answer.structuredContent;
  if (texts.length === 0 && images.length === 0 && structured !== undefined)
    texts.push(JSON.stringify(structured));
  const text = cut(texts.join("\n"), resultChars).toWellFormed();
  return {
    content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...images],
    details: { blocks: answer.content.length } satisfies JsonValue,
    ...(answer.isError === true ? { isError: true } : {}),
  };
}

type Block = Exclude<CallToolResult["content"][number], { readonly type: "image" }>;

function textOf(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "audio":
      return `[sound of the type ${short(block.mimeType)}]`;
    case "resource_link":
      return `[a resource: ${short(block.uri)}]`;
    case "resource":
      return "text" in block.resource
        ? `From ${short(block.resource.uri)}:\n${block.resource.text}`
        : `[a file: ${short(block.resource.uri)}]`;
  }
}

/** An image as its bytes say that it is: a vendor refuses every request with one that is none. */
function imageOf(base64: string): ImageBlock | undefined {
  const bytes = Buffer.from(base64, "base64");
  const info = imageInfo(bytes);
  if (info === undefined || !isTakenPicture(info, bytes.byteLength)) return undefined;
  return {
    type: "image",
    mimeType: info.mimeType,
    source: { kind: "base64", data: bytes.toString("base64") },
  };
}

function short(text: string): string {
  return text.slice(0, 300);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n[${text.length - most} more characters were left out]`;
  return text.slice(0, Math.max(0, most - note.length)) + note;
}
