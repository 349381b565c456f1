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

/** What a block's vendor wants to see again with it; what another model made has lost that by now. */
export function nativeData({ native }: Block): JsonObject | undefined {
  return isJsonObject(native?.data) ? native.data : undefined;
}

/** Vendor data was kept as it came from its API, so that its type says what it is. */
export function isKept<Param>(data: JsonObject | undefined): data is JsonObject & Param {
  return typeof data?.type === "string";
}

/** A media block's address as vendors take it: the URL, or the bytes as a data URL. */
export function mediaUrl({ mimeType, source }: Media): string {
  return source.kind === "url" ? source.url : `data:${mimeType};base64,${source.data}`;
}

/** A file's name for vendors that insist on one. */
export function fileName({ mimeType, name }: FileBlock): string {
  if (name) return name;
  const kind = /\/([a-z0-9]+)/i.exec(mimeType)?.[1] ?? "bin";
  return `file.${kind === "plain" ? "txt" : kind}`;
}

/** Stands between tool results and a user message for servers that refuse the two in a row. */
export const AFTER_RESULTS = "I have the tool results.";

/** A result's text and media for vendors that have no field for failure and refuse an empty text. */
export function plainResult({ content, isError }: ToolResultMessage): { text: string; media: InputBlock[] } {
  const media = content.filter((block) => block.type !== "text");
  const [failed, done] =
    media.length > 0
      ? ["(failed; see attachment)", "(see attachment)"]
      : ["(failed without a message)", "(no output)"];
  return { text: textOf(content, "\n") || (isError ? failed : done), media };
}

/** A call as OpenAI's chat dialect has it. */
export function functionCall(call: ToolCallBlock): OpenAI.ChatCompletionMessageFunctionToolCall {
  return { id: call.id, type: "function", function: { name: call.name, arguments: replayArguments(call) } };
}

/** An escaped half of a surrogate pair without its other half. */
const LONE_ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

/** Returns the arguments as the model wrote them. Servers parse them, so anything but a JSON object is replaced. */
export function replayArguments({ args, argsText }: ToolCallBlock): string {
  if (args === undefined) return "{}";
  const isObject = argsText.trimStart().startsWith("{");
  return isObject && argsText.isWellFormed() && !LONE_ESCAPE.test(argsText) ? argsText : JSON.stringify(args);
}
