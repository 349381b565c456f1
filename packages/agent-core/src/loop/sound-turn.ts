import type { Block, BlockHead, ToolCallBlock } from "../content.ts";
import { isDeeperThan, MAX_DEPTH } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { ModelEvent } from "../model.ts";
import { isJsonObject } from "../schema/issues.ts";
import { soundUsage } from "../usage.ts";
import { isMedia } from "./result.ts";
import { texts } from "./texts.ts";

/**
 * A model's turn as the loop, a store and the next request can rely on: an adapter or a tool written without types may
 * give anything. What is no block is left out, a call is given what it lacks, arguments too deep to be walked count as
 * malformed, and what is no count is no usage. `undefined` where there is no turn at all; the same object when it is fine.
 */
export function soundTurn(given: AssistantMessage | undefined): AssistantMessage | undefined {
  if (given?.role !== "assistant" || typeof given.stopReason !== "string") return undefined;
  const { content } = given;
  if (!Array.isArray(content)) return undefined;
  const usage = given.usage ? soundUsage(given.usage) : undefined;
  let at = 0;
  while (at < content.length && isSoundBlock(content[at])) at++;
  if (at === content.length && usage === given.usage) return given;
  const { usage: _dropped, ...rest } = given;
  const blocks: readonly Block[] = at === content.length ? content : content.flatMap(mended);
  return { ...rest, content: blocks, ...(usage === undefined ? {} : { usage }) };
}

/** Whether an event of a stream that has not ended is one, as far as anybody relies on it. */
export function isSoundEvent(event: Exclude<ModelEvent, { readonly type: "finish" | "error" }>): boolean {
  switch (event.type) {
    case "text.delta":
    case "thinking.delta":
    case "tool.delta":
      return event.index >= 0 && typeof event.delta === "string";
    case "block.start": {
      const head: BlockHead | undefined = event.block;
      if (typeof head?.type !== "string" || !(event.index >= 0)) return false;
      return head.type !== "toolCall" || (typeof head.id === "string" && typeof head.name === "string");
    }
    case "block.end":
      return event.index >= 0 && isSoundBlock(event.block);
    case "usage":
      return isJsonObject(event.usage);
    case "attempt":
      return isJsonObject(event.failure) && isJsonObject(event.next);
    case "start":
      return isJsonObject(event.request) && Array.isArray(event.warnings);
    default:
      return false;
  }
}

function isSoundBlock(block: Block | undefined): boolean {
  switch (block?.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      return typeof block.text === "string";
    case "toolCall":
      return (
        typeof block.name === "string" &&
        typeof block.id === "string" &&
        typeof block.argsText === "string" &&
        (block.args === undefined || (isJsonObject(block.args) && !isDeeperThan(block.args, MAX_DEPTH)))
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

function mended(block: Block): readonly Block[] {
  if (isSoundBlock(block)) return [block];
  return block?.type === "toolCall" ? [mendedCall(block)] : [];
}

function mendedCall(call: ToolCallBlock): ToolCallBlock {
  const { args, argsError: said, ...rest } = call;
  const right = isJsonObject(args) && !isDeeperThan(args, MAX_DEPTH);
  const argsError = right ? said : (said ?? texts.notArguments(MAX_DEPTH));
  return {
    ...rest,
    name: stringOf(call.name),
    id: stringOf(call.id),
    args: right ? args : undefined,
    argsText: typeof call.argsText === "string" ? call.argsText : right ? JSON.stringify(args) : "",
    ...(argsError === undefined ? {} : { argsError }),
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
