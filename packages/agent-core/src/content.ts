import type { JsonObject, JsonValue } from "./json.ts";

/**
 * What a vendor said about a block in its own terms (a thinking signature, an item id), kept byte for byte.
 * It is replayed only to the same `api`, `provider` and `model`; any other target drops it.
 */
export interface Native {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly data: JsonValue;
}

/** Where the bytes of a media block are. `base64` holds no data-URL prefix. */
export type MediaSource =
  | { readonly kind: "base64"; readonly data: string }
  | { readonly kind: "url"; readonly url: string };

interface Said {
  readonly text: string;
  readonly native?: Native;
}

export interface TextBlock extends Said {
  readonly type: "text";
}

/** Model reasoning. `redacted` blocks carry no readable text, only `native`. */
export interface ThinkingBlock extends Said {
  readonly type: "thinking";
  readonly redacted?: boolean;
}

export interface CitationBlock extends Said {
  readonly type: "citation";
  readonly title?: string;
  readonly url?: string;
}

export interface RefusalBlock extends Said {
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
 * A call the model asks for. `args` is the parsed object, or `undefined` when `argsText` is not a JSON object.
 * `argsError` then says why, and the call becomes a tool result that lets the model correct it.
 */
export interface ToolCallBlock {
  readonly type: "toolCall";
  readonly id: string;
  readonly name: string;
  readonly args: JsonObject | undefined;
  /** The raw JSON text as the vendor streamed it. */
  readonly argsText: string;
  readonly argsError?: string;
  readonly native?: Native;
}

/** Something only the vendor that made it understands (a server-side tool, a container id). */
export interface OpaqueBlock {
  readonly type: "opaque";
  readonly native: Native;
}

/** Blocks a person or a tool can contribute. */
export type InputBlock = TextBlock | ImageBlock | AudioBlock | FileBlock;

/** Blocks a model can contribute. */
export type Block = InputBlock | ThinkingBlock | ToolCallBlock | CitationBlock | RefusalBlock | OpaqueBlock;

/** The part of a block known when it starts; text, arguments and signatures arrive later. */
export type BlockHead =
  | { readonly type: Exclude<Block["type"], "toolCall"> }
  | { readonly type: "toolCall"; readonly id: string; readonly name: string };

/** The text of a message's or a result's text blocks, empty ones passed over; a content that is a text is its own. */
export function textOf(content: string | readonly Block[], between = ""): string {
  if (typeof content === "string") return content;
  const texts = content.flatMap((block) => (block.type === "text" && block.text !== "" ? [block.text] : []));
  return texts.join(between);
}

/** The same with this content; the same object where all of it is the same. */
export function withContent<M extends { readonly content: string | readonly Block[] }>(
  message: M,
  content: readonly Block[] & M["content"],
): M {
  const { content: old } = message;
  const isSame = content.length === old.length && content.every((block, at) => block === old[at]);
  return isSame ? message : { ...message, content };
}
