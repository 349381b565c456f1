import {
  type Block,
  type FileBlock,
  type InputBlock,
  isJsonObject,
  type JsonObject,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import type { Media } from "../adapt/media.ts";
import { parseObject } from "./json.ts";

/** Returns the data that the block's vendor requires back. `adapt` has removed data from other models. */
export function nativeData({ native }: Block): JsonObject | undefined {
  return isJsonObject(native?.data) ? native.data : undefined;
}

/** Narrows the type of vendor data that was stored unchanged. */
export function isVendorData<Param>(data: JsonObject | undefined): data is JsonObject & Param {
  return typeof data?.type === "string";
}

/** The URL of a media block, or a data URL with its bytes. */
export function mediaUrl({ mimeType, source }: Media): string {
  return source.kind === "url" ? source.url : `data:${mimeType};base64,${source.data}`;
}

/** A file name, for vendors that require one. */
export function fileName({ mimeType, name }: FileBlock): string {
  if (name) return name;
  const kind = /\/([a-z0-9]+)/i.exec(mimeType)?.[1] ?? "bin";
  return `file.${kind === "plain" ? "txt" : kind}`;
}

/** Separates tool results from a user message, for servers that reject one directly after the other. */
export const AFTER_RESULTS = "I have the tool results.";

/** The text and the media of a result, for vendors that have no error field and reject empty texts. */
export function plainResult({ content, isError }: ToolResultMessage): { text: string; media: InputBlock[] } {
  const media = content.filter((block) => block.type !== "text");
  const [failed, done] =
    media.length > 0
      ? ["(failed; see attachment)", "(see attachment)"]
      : ["(failed without a message)", "(no output)"];
  return { text: textOf(content, "\n") || (isError ? failed : done), media };
}

/** A call in OpenAI's chat format. */
export function toFunctionCall(call: ToolCallBlock): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id: call.id, type: "function", function: { name: call.name, arguments: replayArguments(call) } };
}

/** An escaped surrogate without its counterpart. */
const LONE_ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

/**
 * Returns the arguments as the model wrote them. Servers parse them, so anything that is not a JSON object is replaced.
 */
export function replayArguments({ args, argsText }: ToolCallBlock): string {
  if (args === undefined) return "{}";
  const isObject = parseObject(argsText) !== undefined;
  return isObject && argsText.isWellFormed() && !LONE_ESCAPE.test(argsText) ? argsText : JSON.stringify(args);
}
