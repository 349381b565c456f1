import { type Block, type InputBlock, type ToolCallBlock, withContent } from "../content.ts";
import { isDeeperThan, isJsonObject, MAX_JSON_DEPTH, toWellFormed } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import { NO_USAGE, validateUsage } from "../usage.ts";
import { texts } from "./texts.ts";

/**
 * A model's turn in a form that the loop, a store and the next request can rely on, because an adapter written without
 * types may yield anything, and a model writes what it likes. What is no block is left out, a call gets what it lacks,
 * arguments too deep to walk count as malformed, half of a surrogate pair becomes U+FFFD, and what is no count is not
 * usage. Returns `undefined` if there is no turn at all, and the same object if it is fine.
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

/** Whether a block is whole, and can be kept and sent as it is. */
export function isValidBlock(block: Block | undefined): boolean {
  return block !== undefined && validateBlock(block) === block;
}

/** The same object when it is fine; `undefined` where nothing can be made of it. */
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

/** The same for what a person or a tool can contribute. */
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

/** A call as `validateTurn` leaves it, also for one that comes from a history. */
export function validateCall(call: ToolCallBlock): ToolCallBlock {
  const readable = isJsonObject(call.args) && !isDeeperThan(call.args, MAX_JSON_DEPTH);
  const args = readable ? toWellFormed(call.args) : undefined;
  const [name, id] = [stringOf(call.name), stringOf(call.id)];
  const argsText = stringOf(call.argsText).toWellFormed();
  const isFine = name === call.name && id === call.id && argsText === call.argsText && args === call.args;
  if (isFine) return call;
  const { argsError: said, ...rest } = call;
  const argsError = args === undefined ? (said ?? texts.notArguments(MAX_JSON_DEPTH)) : said;
  // The text is what is sent again, so it says what the arguments say.
  const kept = args === undefined || args === call.args ? argsText : JSON.stringify(args);
  return { ...rest, name, id, args, argsText: kept, ...(argsError === undefined ? {} : { argsError }) };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
