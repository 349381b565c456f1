import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { InputBlock, JsonValue, ToolResult } from "@signalbox/agent-core";

/** Base64 of one image; larger ones no vendor takes. */
const MAX_IMAGE_CHARS = 7_000_000;
const MAX_IMAGES = 8;
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * What a server answered, as the loop takes it: text within the room that a result has, and images that models read.
 */
export function readResult(answer: CallToolResult, resultChars: number): ToolResult {
  const texts: string[] = [];
  const images: InputBlock[] = [];
  for (const block of answer.content) {
    if (block.type !== "image") texts.push(textOf(block));
    else if (isUsable(block) && images.length < MAX_IMAGES)
      images.push({
        type: "image",
        mimeType: block.mimeType,
        source: { kind: "base64", data: block.data },
      });
    else texts.push(`[an image of the type ${short(block.mimeType)} that cannot be shown]`);
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

function isUsable({ data, mimeType }: { readonly data: string; readonly mimeType: string }): boolean {
  return IMAGE_TYPES.has(mimeType) && data.length <= MAX_IMAGE_CHARS && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

function short(text: string): string {
  return text.slice(0, 300);
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const note = `\n[${text.length - most} more characters were left out]`;
  return text.slice(0, Math.max(0, most - note.length)) + note;
}
