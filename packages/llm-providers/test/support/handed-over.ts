import type {
  AssistantMessage,
  AudioBlock,
  Block,
  FileBlock,
  ImageBlock,
  InputBlock,
  Message,
  Model,
  ToolCallBlock,
  ToolResultMessage,
} from "@signalbox/agent-core";
import { expect } from "vitest";
import type { AdaptOptions } from "../../src/adapt/convert.ts";
import type { Loss } from "../../src/shared/warnings.ts";
import { call, result, said, user } from "./conversations.ts";

type Media = ImageBlock | AudioBlock | FileBlock;

/** What a vendor's API document accepts. */
interface Wire {
  /** Absent if any id is accepted. */
  readonly id?: RegExp;
  readonly name: RegExp;
  readonly takes: (block: Media) => boolean;
  /** True if an image by the model itself may be sent back. */
  readonly takesOwnImage: boolean;
}

const inline = (block: Media): boolean => block.source.kind === "base64";
const WIRES: Readonly<Record<string, Wire>> = {
  "anthropic-messages": {
    id: /^[\w-]{1,64}$/,
    name: /^[\w-]{1,128}$/,
    takes: (block) =>
      block.type === "image"
        ? !inline(block) || /^image\/(?:jpeg|png|gif|webp)$/.test(block.mimeType)
        : block.mimeType === "application/pdf" || (block.mimeType === "text/plain" && inline(block)),
    takesOwnImage: false,
  },
  "openai-responses": { id: /^[\w-]{1,64}$/, name: /^[\w-]{1,64}$/, takes: () => true, takesOwnImage: true },
  "openai-chat": {
    id: /^[\w-]{1,40}$/,
    name: /^[\w-]{1,64}$/,
    takes: (block) => block.type === "image" || inline(block),
    takesOwnImage: false,
  },
  "mistral-chat": {
    id: /^[A-Za-z0-9]{9}$/,
    name: /^[\w-]{1,64}$/,
    takes: () => true,
    takesOwnImage: false,
  },
  "google-generative": { name: /^[A-Za-z_][\w-]{0,63}$/, takes: () => true, takesOwnImage: true },
};

/** The parts of a loss that are compared. */
export type Lost = Pick<Loss, "kind" | "message">;

/** The expected history. Strings with only a known form are vitest's matchers. */
export interface HandedOver {
  readonly messages: readonly unknown[];
  readonly losses: readonly Lost[];
}

/** Computes the expected result of `adapt` without sharing code with it. */
export function handedOver(history: readonly Message[], target: Model, options: AdaptOptions): HandedOver {
  const wire = WIRES[target.api];
  if (wire === undefined) throw new Error(`no rules for ${target.api}`);
  const losses: Lost[] = [];
  const messages: unknown[] = [];
  const spoken = new Set<string>();

  const isTarget = (maker: { api: string; provider: string; model: string }): boolean =>
    maker.api === target.api && maker.provider === target.provider && maker.model === target.id;
  const shaped = (text: string, shape: RegExp | undefined): unknown =>
    shape === undefined || shape.test(text) ? text : expect.stringMatching(shape);
  const described = (block: Media): unknown => ({
    type: "text",
    text: expect.stringMatching(new RegExp(`^\\[${block.type}.* \\(${block.mimeType}\\).* left out: `)),
  });

  const input = (blocks: readonly InputBlock[], message: number): unknown[] =>
    blocks.map((block) => {
      if (block.type === "text" || (target.input.includes(block.type) && wire.takes(block))) return block;
      losses.push({ kind: "media", message });
      return described(block);
    });

  const block = (one: Exclude<Block, ToolCallBlock>, turn: AssistantMessage, message: number): unknown[] => {
    const own = isTarget(one.native ?? turn);
    const lose = (kind: Loss["kind"], ...left: unknown[]): unknown[] => {
      losses.push({ kind, message });
      return left;
    };
    switch (one.type) {
      case "text":
        return own || one.native === undefined ? [one] : lose("native", { type: "text", text: one.text });
      case "thinking": {
        if (own) return [one];
        const asText = options.foreignThinking === "text" && one.text.trim() !== "";
        return asText
          ? lose("thinking", { type: "text", text: `<thinking>\n${one.text}\n</thinking>` })
          : lose("thinking");
      }
      case "refusal":
        return own ? [one] : lose("refusal", { type: "text", text: one.text });
      case "citation":
        return own && one.native !== undefined ? [one] : lose("citation");
      case "opaque":
        return own ? [one] : lose("opaque");
      default:
        return own && wire.takesOwnImage && one.native !== undefined && one.type === "image"
          ? [one]
          : lose("media", described(one));
    }
  };

  const called = (one: ToolCallBlock, id: unknown, message: number): unknown => {
    const { native, ...bare } = one;
    const keeps = native !== undefined && isTarget(native);
    if (native !== undefined && !keeps) losses.push({ kind: "native", message });
    return { ...(keeps ? one : bare), id, name: shaped(one.name, wire.name) };
  };

  const answered = (answer: ToolResultMessage, at: number, id: unknown): unknown => ({
    ...answer,
    toolCallId: id,
    toolName: shaped(answer.toolName, wire.name),
    content: input(answer.content, at),
  });

  /** A result without a call. Its media and id are converted before it is dropped. */
  const stray = (answer: ToolResultMessage, message: number): void => {
    input(answer.content, message);
    losses.push({ kind: "orphan_result", message });
  };

  history.forEach((message, at) => {
    if (message.role === "user") {
      const { content } = message;
      messages.push(typeof content === "string" ? message : { ...message, content: input(content, at) });
      return;
    }
    if (message.role === "toolResult") {
      if (wire.id?.test(message.toolCallId) === false) losses.push({ kind: "call_id", message: at });
      // Results follow their calls, whenever they were given.
      const before = history.slice(0, at).findLast((one) => one.role === "assistant");
      if (before?.content.some((one) => one.type === "toolCall" && one.id === message.toolCallId) !== true)
        stray(message, at);
      return;
    }
    const until = history.findIndex((one, i) => i > at && one.role === "assistant");
    const given = new Map<string, { readonly answer: ToolResultMessage; readonly at: number }>();
    history.forEach((one, i) => {
      if (one.role !== "toolResult" || i < at || (until !== -1 && i > until)) return;
      if (given.has(one.toolCallId)) stray(one, i);
      else given.set(one.toolCallId, { answer: one, at: i });
    });

    const results: unknown[] = [];
    const whole = message.content.flatMap((one): unknown[] => {
      if (one.type !== "toolCall") return block(one, message, at);
      const fits = wire.id?.test(one.id) !== false;
      if (!fits) losses.push({ kind: "call_id", message: at });
      const answer = given.get(one.id);
      if (answer === undefined && one.args === undefined && message.stopReason !== "tool_use") {
        losses.push({ kind: "partial", message: at });
        return [];
      }
      const repeated = spoken.has(one.id);
      spoken.add(one.id);
      if (repeated) losses.push({ kind: "call_id", message: at });
      const id = fits && !repeated ? one.id : expect.stringMatching(wire.id ?? /./);
      if (answer === undefined) losses.push({ kind: "orphan_call", message: at });
      results.push(
        answer === undefined
          ? expect.objectContaining({ role: "toolResult", toolCallId: id, isError: true })
          : answered(answer.answer, answer.at, id),
      );
      return [called(one, id, at)];
    });
    const content = withoutOuterSpace(whole);
    const says = content.some((one) => !(one as Block).type.endsWith("thinking"));
    if (says) messages.push({ ...message, content }, ...results);
    else losses.push({ kind: "empty", message: at });
  });
  return { messages, losses };
}

/** Vendors refuse blank texts, but accept white space between two texts of a turn. */
function withoutOuterSpace(content: readonly unknown[]): unknown[] {
  const blocks = content as readonly Block[];
  const isBlank = (one: Block): boolean =>
    one.type === "text" && typeof one.text === "string" && one.text.trim() === "";
  const visible = blocks.map((one) => one.type === "text" && !isBlank(one));
  return blocks.filter((one, at) => {
    if (one.type !== "text" || !isBlank(one) || one.native !== undefined) return true;
    return one.text !== "" && visible.indexOf(true) < at && at < visible.lastIndexOf(true);
  });
}

/** Lists calls that are not followed by exactly one result with a unique id. */
export function wronglyPaired(messages: readonly Message[]): string[] {
  const calls: string[] = [];
  const results: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") results.push(message.toolCallId);
    if (message.role !== "assistant") continue;
    for (const block of message.content) if (block.type === "toolCall") calls.push(block.id);
  }
  return [
    ...calls.filter((id, at) => results[at] !== id || calls.indexOf(id) !== at),
    ...results.slice(calls.length),
  ];
}

const inlineMedia = { kind: "base64", data: "AA==" } as const;
const MEDIA: readonly InputBlock[] = [
  { type: "text", text: "Look." },
  { type: "image", mimeType: "image/png", source: inlineMedia },
  { type: "image", mimeType: "image/tiff", source: inlineMedia },
  { type: "image", mimeType: "image/tiff", source: { kind: "url", url: "https://example.org/a" } },
  { type: "audio", mimeType: "audio/wav", source: inlineMedia },
  { type: "file", mimeType: "application/pdf", name: "a.pdf", source: inlineMedia },
  { type: "file", mimeType: "text/plain", source: { kind: "url", url: "https://example.org/b" } },
];

/**
 * Returns the same conversation as if it had been interrupted: every third result is missing, and there are results
 * without calls, incomplete calls, media, and a tool name that few vendors accept.
 */
export function interrupted(history: readonly Message[], maker: Model): Message[] {
  let results = 0;
  const half = (id: string): Block => ({
    type: "toolCall",
    id,
    name: "now",
    args: undefined,
    argsText: '{"a',
    argsError: "cut",
  });
  const broken = (content: readonly Block[]): AssistantMessage => ({
    ...said(maker, content),
    stopReason: "error",
  });
  return [
    user(MEDIA),
    result("nobody's", "now", MEDIA),
    ...history.filter((message) => message.role !== "toolResult" || results++ % 3 !== 0),
    said(maker, [call("a b", "fs.read", {}), { type: "refusal", text: "No." }, call("late", "now", {})]),
    user("Wait."),
    result("late", "now", MEDIA),
    result("a b", "fs.read", []),
    result("late", "now", []),
    broken([{ type: "text", text: "And so" }, half("half1")]),
    user("Go on."),
    broken([half("half2")]),
    user("Go on."),
  ];
}
