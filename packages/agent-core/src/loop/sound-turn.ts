import type { Block, ToolCallBlock } from "../content.ts";
import { isMedia } from "../content.ts";
import { isDeeperThan, isJsonObject, isWellFormed, MAX_JSON_DEPTH, toWellFormed } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import { soundUsage } from "../usage.ts";
import { texts } from "./texts.ts";

/**
 * A model's turn as the loop, a store and the next request can rely on: an adapter written without types may give
 * anything, and a model writes what it likes. What is no block is left out, a call is given what it lacks, arguments
 * too deep to be walked count as malformed, half of a surrogate pair gives way to U+FFFD, and what is no count is no
 * usage. `undefined` where there is no turn at all; the same object when it is fine.
 */
export function soundTurn(given: AssistantMessage | undefined): AssistantMessage | undefined {
  if (given?.role !== "assistant" || typeof given.stopReason !== "string") return undefined;
  const { content } = given;
  if (!Array.isArray(content)) return undefined;
  const usage = given.usage ? soundUsage(given.usage) : undefined;
  const sound = content.every(isSoundBlock);
  if (sound && usage === given.usage) return given;
  const { usage: _dropped, ...rest } = given;
  const blocks: readonly Block[] = sound ? content : content.flatMap(soundBlock);
  return { ...rest, content: blocks, ...(usage === undefined ? {} : { usage }) };
}

/** Whether a block is whole, and can be kept and sent as it is. */
export function isSoundBlock(block: Block | undefined): boolean {
  switch (block?.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      return typeof block.text === "string" && block.text.isWellFormed();
    case "toolCall":
      return (
        typeof block.name === "string" &&
        typeof block.id === "string" &&
        typeof block.argsText === "string" &&
        block.argsText.isWellFormed() &&
        (block.args === undefined || isSoundArgs(block.args))
      );
    case "opaque":
      return block.native?.data !== undefined;
    default:
      return isMedia(block);
  }
}

/** A call as `soundTurn` leaves it, for one that comes from a history. */
export function soundCall(call: ToolCallBlock): ToolCallBlock {
  return isSoundBlock(call) ? call : mendedCall(call);
}

function isSoundArgs(args: unknown): boolean {
  return isJsonObject(args) && !isDeeperThan(args, MAX_JSON_DEPTH) && isWellFormed(args);
}

function soundBlock(block: Block): readonly Block[] {
  if (isSoundBlock(block)) return [block];
  switch (block?.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      return typeof block.text === "string" ? [{ ...block, text: block.text.toWellFormed() }] : [];
    case "toolCall":
      return [mendedCall(block)];
    default:
      return [];
  }
}

function mendedCall(call: ToolCallBlock): ToolCallBlock {
  const { args: given, argsError: said, ...rest } = call;
  const readable = isJsonObject(given) && !isDeeperThan(given, MAX_JSON_DEPTH);
  const args = readable ? toWellFormed(given) : undefined;
  const argsError = args === undefined ? (said ?? texts.notArguments(MAX_JSON_DEPTH)) : said;
  // The text is what is sent again, so it says what the arguments say.
  const keepsText = typeof call.argsText === "string" && (args === undefined || args === given);
  return {
    ...rest,
    name: stringOf(call.name),
    id: stringOf(call.id),
    args,
    argsText: keepsText ? call.argsText.toWellFormed() : args === undefined ? "" : JSON.stringify(args),
    ...(argsError === undefined ? {} : { argsError }),
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
