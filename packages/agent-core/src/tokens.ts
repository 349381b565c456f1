import type { Block } from "./content.ts";
import type { AgentMessage } from "./messages.ts";
import type { ModelContext } from "./model.ts";

/** Approximate tokens of a typical image. Audio and files count the same. */
export const MEDIA_TOKENS = 1_600;
/** Token overhead of a message or block for role, separators and ids. */
const OVERHEAD = 4;
/** Maximum length of a text that is counted completely. Longer texts are sampled. */
const WHOLE = 4_096;
const SAMPLES = 64;
const SAMPLE_CHARS = 64;

/**
 * Counts quarter tokens. Characters from U+2E80 on (CJK, Hangul, most emoji halves) take about one token, others about
 * a quarter.
 */
function quarters(text: string, from: number, to: number): number {
  let count = to - from;
  for (let i = from; i < to; i++) if (text.charCodeAt(i) >= 0x2e80) count += 3;
  return count;
}

function textTokens(text: string): number {
  const length = text.length;
  if (length <= WHOLE) return Math.ceil(quarters(text, 0, length) / 4);
  const step = (length - SAMPLE_CHARS) / (SAMPLES - 1);
  let sampled = 0;
  for (let i = 0; i < SAMPLES; i++) {
    const from = Math.floor(i * step);
    sampled += quarters(text, from, from + SAMPLE_CHARS);
  }
  return Math.ceil((sampled / (SAMPLES * SAMPLE_CHARS)) * (length / 4));
}

function blockTokens(block: Block): number {
  switch (block.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      return textTokens(block.text);
    case "toolCall":
      return textTokens(block.name) + textTokens(block.argsText) + OVERHEAD;
    case "image":
    case "audio":
    case "file":
      return MEDIA_TOKENS;
    case "opaque":
      return textTokens(JSON.stringify(block.native.data));
  }
}

function contentTokens(content: string | readonly Block[]): number {
  return typeof content === "string" ? textTokens(content) : sum(content, blockTokens);
}

/**
 * Estimates the tokens of a text, a message or several messages, regardless of the vendor: a quarter token per
 * character, one per CJK character, 1,600 per image, audio or file. Long texts are sampled to bound the cost.
 */
export function estimateTokens(value: string | AgentMessage | readonly AgentMessage[]): number {
  if (typeof value === "string") return textTokens(value);
  return "role" in value ? messageTokens(value) : sum(value, messageTokens);
}

/** Estimates the tokens of an entire request. */
export function estimateRequest({ system, messages, tools }: ModelContext): number {
  const fixed = [system.stable, system.volatile ?? "", JSON.stringify(tools)];
  return estimateTokens(messages) + sum(fixed, textTokens);
}

export function sum<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + numberOf(item), 0);
}

function messageTokens(message: AgentMessage): number {
  switch (message.role) {
    case "user":
      return textTokens(message.context ?? "") + contentTokens(message.content) + OVERHEAD;
    case "assistant":
    case "toolResult":
    case "custom":
      return contentTokens(message.content) + OVERHEAD;
    case "shellRun":
      return textTokens(message.command) + textTokens(message.output) + 2 * OVERHEAD;
    case "branchSummary":
    case "compactionSummary":
      return textTokens(message.summary) + 2 * OVERHEAD;
  }
}
