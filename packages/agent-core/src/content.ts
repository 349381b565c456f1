import type { JsonObject, JsonValue } from "./json.ts";

/**
 * Vendor-specific data of a block (a thinking signature, an item id), kept byte for byte. It is only sent to the same
 * `api`, `provider` and `model`.
 */
export interface Native {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly data: JsonValue;
}

/** Location of the bytes of a media block. `base64` contains no data-URL prefix. */
export type MediaSource =
  | { readonly kind: "base64"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

interface TextContent {
  readonly text: string;
  readonly native?: Native;
}

export interface TextBlock extends TextContent {
  readonly type: "text";
}

/** Reasoning of a model. `redacted` blocks have no readable text, only `native`. */
export interface ThinkingBlock extends TextContent {
  readonly type: "thinking";
  readonly redacted?: boolean;
}

export interface CitationBlock extends TextContent {
  readonly type: "citation";
  readonly title?: string;
  readonly url?: string;
}

export interface RefusalBlock extends TextContent {
  readonly type: "refusal";
}

interface Media {
  /** MIME type, for instance `image/png`. */
  readonly mimeType: string;
  readonly source: MediaSource;
  readonly native?: Native;
}

export interface ImageBlock extends Media {
  readonly type: "image";
}

export interface AudioBlock extends Media {
  readonly type: "audio";
}

export interface FileBlock extends Media {
  readonly type: "file";
  readonly name?: string;
}

/**
 * A call requested by the model. `args` is the parsed object, or `undefined` if `argsText` is not a JSON object. In
 * that case `argsError` contains the reason, and the result of the call lets the model correct the arguments.
 */
export interface ToolCallBlock {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject | undefined;
  /** The JSON text as the vendor streamed it. */
  readonly argsText: string;
  readonly argsError?: string;
  readonly native?: Native;
}

/** Data that only its vendor understands (a server-side tool, a container id). */
export interface OpaqueBlock {
  readonly type: "opaque";
  readonly native: Native;
}

/** Blocks that people and tools can produce. */
export type InputBlock = TextBlock | ImageBlock | AudioBlock | FileBlock;

/** Blocks that models can produce. */
export type Block = InputBlock | ThinkingBlock | ToolCallBlock | CitationBlock | RefusalBlock | OpaqueBlock;

/** The fields of a block that are known when it starts. Text, arguments and signatures follow. */
export type BlockHead =
  | { readonly type: Exclude<Block["type"], "toolCall"> }
  | { readonly type: "toolCall"; readonly id: string; readonly name: string };

/** Returns the text of all non-empty text blocks, joined by `between`. */
export function textOf(content: string | readonly Block[], between = ""): string {
  if (typeof content === "string") return content;
  const texts = content.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
  return texts.join(between);
}

/** Returns a copy with this content, or the same object if the content is equal. */
export function withContent<M extends { readonly content: string | readonly Block[] }>(
  message: M,
  content: readonly Block[] & M["content"],
): M {
  const { content: old } = message;
  const isSame = content.length === old.length && content.every((block, at) => block === old[at]);
  return isSame ? message : { ...message, content };
}
