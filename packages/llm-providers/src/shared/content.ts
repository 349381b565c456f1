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

/** Returns what the block's vendor wants back with it. Another model's data was removed by `adapt`. */
export function nativeData({ native }: Block): JsonObject | undefined {
  return isJsonObject(native?.data) ? native.data : undefined;
}

/** Narrows vendor data that was kept as it came from the vendor's API. */
export function isVendorData<Param>(data: JsonObject | undefined): data is JsonObject & Param {
  return typeof data?.type === "string";
}

/** The address of a media block: its URL, or its bytes as a data URL. */
export function mediaUrl({ mimeType, source }: Media): string {
  return source.kind === "url" ? source.url : `data:${mimeType};base64,${source.data}`;
}

/** A file name, for vendors that require one. */
export function fileName({ mimeType, name }: FileBlock): string {
  if (name) return name;
  const kind = /\/([a-z0-9]+)/i.exec(mimeType)?.[1] ?? "bin";
  return `file.${kind === "plain" ? "txt" : kind}`;
}

/** Separates tool results from a user message, for servers that refuse the two in a row. */
export const AFTER_RESULTS = "I have the tool results.";

/** The text and the media of a result, for vendors that have no error field and refuse empty texts. */
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

/** An escaped surrogate without its other half. */
const LONE_ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

/** Returns the arguments as the model wrote them. Servers parse them, so anything but a JSON object is replaced. */
export function replayArguments({ args, argsText }: ToolCallBlock): string {
  if (args === undefined) return "{}";
  const isObject = parseObject(argsText) !== undefined;
  return isObject && argsText.isWellFormed() && !LONE_ESCAPE.test(argsText) ? argsText : JSON.stringify(args);
}
