import type { InputBlock } from "../content.ts";
import type { ToolResult } from "../tool.ts";
import { texts } from "./texts.ts";

/** More levels than anybody looks into; a cycle has more. */
const DETAIL_LEVELS = 256;

export function failed(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/**
 * What a tool's body or a hook gave, as a result. A part that is no block gives way to a note that says so; where none
 * is, the result is a failure. Details that JSON has no form for (a cycle, a bigint) are left out, as no host could keep
 * them. Never throws.
 */
export function soundResult(result: ToolResult | undefined, name: string): ToolResult {
  try {
    const content = result?.content;
    if (result === undefined || !Array.isArray(content)) return failed(texts.noContent(name));
    if (result.details !== undefined && !canBeKept(result.details, DETAIL_LEVELS)) {
      const { details: _dropped, ...rest } = result;
      return soundResult(rest, name);
    }
    if (content.length === 0) return { ...result, content: [{ type: "text", text: texts.emptyContent }] };
    let bad = 0;
    for (let i = 0; i < content.length; i++) if (!isSoundInput(content[i])) bad++;
    if (bad === 0) return result;
    const rest: readonly InputBlock[] = content.filter(isSoundInput);
    const note: InputBlock = { type: "text", text: texts.badContent(name, bad) };
    return { ...result, content: [...rest, note], ...(rest.length === 0 ? { isError: true } : {}) };
  } catch {
    return failed(texts.noContent(name));
  }
}

function isSoundInput(block: InputBlock | undefined): boolean {
  return block?.type === "text" ? typeof block.text === "string" : isMedia(block);
}

export function isMedia(block: unknown): boolean {
  if (typeof block !== "object" || block === null || !("source" in block) || !("mimeType" in block))
    return false;
  if (!("type" in block) || (block.type !== "image" && block.type !== "audio" && block.type !== "file"))
    return false;
  const { source, mimeType } = block;
  if (typeof mimeType !== "string" || typeof source !== "object" || source === null || !("kind" in source))
    return false;
  if (source.kind === "base64") return "data" in source && typeof source.data === "string";
  return source.kind === "url" && "url" in source && typeof source.url === "string";
}

function canBeKept(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint";
  return levels > 0 && Object.values(value).every((item) => canBeKept(item, levels - 1));
}
