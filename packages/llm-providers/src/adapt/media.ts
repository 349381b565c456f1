import {
  type AudioBlock,
  type Block,
  type FileBlock,
  IMAGE_LIMITS,
  type ImageBlock,
  type Message,
  type Model,
  readImageInfo,
  type TextBlock,
} from "@signalbox/agent-core";
import { entryOf } from "../shared/json.ts";

export type Media = ImageBlock | AudioBlock | FileBlock;

type Takes = (block: Media) => boolean;

/** The media that a wire format accepts from users, from tools and in the model's own turns. */
type MediaRules = { readonly [From in "input" | "output"]: Takes };

export const ANTHROPIC_IMAGES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;
const CHAT_AUDIO = /^audio\/(?:x-)?(?:wav|mpeg|mp3)$/;

/** Returns true for any text format. Anthropic accepts these as plain text documents. */
export function isTextFile(mimeType: string): boolean {
  return /^text\/|[/+](?:json|xml|yaml)$/.test(mimeType);
}

const anything: Takes = () => true;
const nothing: Takes = () => false;
const inline: Takes = ({ source }) => source.kind === "base64";

/** By wire format, from the vendors' API documentation. Other formats accept everything. */
const RULES: Readonly<Record<string, MediaRules>> = {
  "anthropic-messages": {
    input: (block) => {
      const { type, mimeType } = block;
      if (type === "image") return !inline(block) || ANTHROPIC_IMAGES.some((image) => image === mimeType);
      return type === "file" && (mimeType === "application/pdf" || (inline(block) && isTextFile(mimeType)));
    },
    output: nothing,
  },
  "openai-responses": {
    input: ({ type }) => type !== "audio",
    output: (block) => block.type === "image" && block.native !== undefined && inline(block),
  },
  "openai-chat": {
    input: (block) =>
      block.type === "image" || (inline(block) && (block.type === "file" || CHAT_AUDIO.test(block.mimeType))),
    output: nothing,
  },
  "mistral-chat": { input: anything, output: nothing },
  "google-generative": {
    input: anything,
    output: (block) => block.type !== "file" && block.native !== undefined && inline(block),
  },
};

const CANNOT: Readonly<Record<Media["type"], string>> = {
  image: "this model cannot see images",
  audio: "this model cannot hear audio",
  file: "this model cannot read files",
};

/**
 * Returns a replacement for media that a model or its API does not accept, or `undefined` if it does.
 *
 * @param from `output` if the model itself generated the media
 * @param isAmongMany whether the history has more than `few` images (see {@link IMAGE_LIMITS})
 */
export function replaceMedia(
  block: Media,
  { api, input }: Model,
  from: keyof MediaRules,
  isAmongMany = false,
): TextBlock | undefined {
  if (!input.includes(block.type)) return describeOmitted(block, CANNOT[block.type]);
  if (entryOf(RULES, api)?.[from](block) === false) return describeOmitted(block);
  if (api !== "anthropic-messages" || !isTooLarge(block, isAmongMany)) return undefined;
  const among = isAmongMany ? " to see it among so many others" : "";
  return describeOmitted(block, `it is too large for this model${among}`);
}

/** Anthropic rejects the entire request if one image is too large. */
function isTooLarge({ type, source }: Media, isAmongMany: boolean): boolean {
  if (type !== "image" || source.kind === "url") return false;
  const { width = 0, height = 0 } = readImageInfo(Buffer.from(source.data, "base64")) ?? {};
  if (width * height === 0) return isAmongMany;
  return Math.max(width, height) > (isAmongMany ? IMAGE_LIMITS.sideAmongMany : IMAGE_LIMITS.side);
}

/**
 * Replaces all but the last images with descriptions. Returns the same messages if there are no more images than
 * allowed.
 */
export function keepLastImages(
  messages: readonly Message[],
  max: number,
): { readonly messages: readonly Message[]; readonly dropped: number } {
  const isImage = ({ type }: { readonly type: string }): boolean => type === "image";
  const blocks = messages.flatMap(({ content }): readonly Block[] =>
    typeof content === "string" ? [] : content,
  );
  const dropped = Math.max(0, blocks.filter(isImage).length - max);
  if (dropped === 0) return { messages, dropped };
  const why = max === 0 ? "this model cannot see images" : "this model accepts only the last images";
  let left = dropped;
  const describe = <B extends Block>(block: B): B | TextBlock =>
    block.type === "image" && left-- > 0 ? describeOmitted(block, why) : block;
  return {
    dropped,
    messages: messages.map((message): Message => {
      if (typeof message.content === "string" || !message.content.some(isImage)) return message;
      if (message.role === "assistant") return { ...message, content: message.content.map(describe) };
      return { ...message, content: message.content.map(describe) };
    }),
  };
}

/** Describes a block that cannot be sent, so that the model knows it exists. */
export function describeOmitted(block: Media, why = "this model's API has no place for it"): TextBlock {
  const name = block.type === "file" && block.name !== undefined ? ` "${block.name}"` : "";
  const place = block.source.kind === "url" ? ` at ${block.source.url}` : "";
  return { type: "text", text: `[${block.type}${name} (${block.mimeType})${place} left out: ${why}]` };
}
