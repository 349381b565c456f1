import { type Block, type InputBlock, type ToolCallBlock, withContent } from "../content.ts";
import { isDeeperThan, isJsonObject, MAX_JSON_DEPTH, toWellFormed } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import { NO_USAGE, validateUsage } from "../usage.ts";
import { texts } from "./texts.ts";

/**
 * Validates a model turn before the loop, a store or the next request uses it, because untyped adapters and models may
 * produce anything. Drops invalid blocks, completes calls, marks deeply nested arguments as malformed, and replaces
 * lone surrogates and invalid counts.
 *
 * @returns `undefined` if there is no turn, and the same object if it is valid
 */
export function validateTurn(given: AssistantMessage | undefined): AssistantMessage | undefined {
  if (given?.role !== "assistant" || typeof given.stopReason !== "string") return undefined;
  if (!Array.isArray(given.content)) return undefined;
  const blocks = given.content.flatMap((block: Block) => validateBlock(block) ?? []);
  const turn = withContent(given, blocks);
  if (turn.usage === undefined) return turn;
  const usage = validateUsage(turn.usage ?? NO_USAGE);
  return usage === turn.usage ? turn : { ...turn, usage };
}

/** Returns true if a block is complete and can be stored and sent. */
export function isValidBlock(block: Block | undefined): boolean {
  return block !== undefined && validateBlock(block) === block;
}

/** Returns the same object if it is valid, and `undefined` if it cannot be repaired. */
function validateBlock(block: Block): Block | undefined {
  switch (block?.type) {
    case "thinking":
    case "refusal":
    case "citation":
      return validateText(block);
    case "toolCall":
      return validateCall(block);
    case "opaque":
      return block.native?.data === undefined ? undefined : block;
    default:
      return validateInput(block);
  }
}

/** Validates a block from a person or a tool. */
export function validateInput(block: InputBlock): InputBlock | undefined {
  if (block?.type === "text") return validateText(block);
  return isMedia(block) ? block : undefined;
}

function isMedia(block: unknown): boolean {
  if (!isJsonObject(block) || !isJsonObject(block.source)) return false;
  const { type, mimeType, source } = block;
  const bytes = source.kind === "base64" ? source.data : source.kind === "url" ? source.url : undefined;
  const isKnown = type === "image" || type === "audio" || type === "file";
  return isKnown && typeof mimeType === "string" && typeof bytes === "string";
}

function validateText<B extends { readonly text: string }>(block: B): B | undefined {
  if (typeof block.text !== "string") return undefined;
  return block.text.isWellFormed() ? block : { ...block, text: block.text.toWellFormed() };
}

/** Validates a call like `validateTurn` does, including calls from a history. */
export function validateCall(call: ToolCallBlock): ToolCallBlock {
  const readable = isJsonObject(call.args) && !isDeeperThan(call.args, MAX_JSON_DEPTH);
  const args = readable ? toWellFormed(call.args) : undefined;
  const [name, id] = [toText(call.name), toText(call.id)];
  const argsText = toText(call.argsText).toWellFormed();
  const isFine = name === call.name && id === call.id && argsText === call.argsText && args === call.args;
  if (isFine) return call;
  const { argsError: said, ...rest } = call;
  const argsError = args === undefined ? (said ?? texts.notArguments(MAX_JSON_DEPTH)) : said;
  // The text is sent again, so it must match the arguments.
  const kept = args === undefined || args === call.args ? argsText : JSON.stringify(args);
  return { ...rest, name, id, args, argsText: kept, argsError };
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
