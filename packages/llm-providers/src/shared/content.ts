import {
  type Block,
  type InputBlock,
  type MediaSource,
  type ToolCallBlock,
  type ToolResultMessage,
  textOf,
} from "@signalbox/agent-core";
import { isRaw, type Raw } from "./json.ts";

/** What a block's vendor wants to see again with it; what another model made has lost that by now. */
export function nativeData({ native }: Block): Raw | undefined {
  return isRaw(native?.data) ? native.data : undefined;
}

/** A media block's address as vendors take it: the URL, or the bytes as a data URL. */
export function mediaUrl(mimeType: string, source: MediaSource): string {
  return source.kind === "url" ? source.url : `data:${mimeType};base64,${source.data}`;
}

/** A file's name for vendors that insist on one. */
export function fileName(mimeType: string, name: string | undefined): string {
  if (name) return name;
  const kind = /\/([a-z0-9]+)/i.exec(mimeType)?.[1] ?? "bin";
  return `file.${kind === "plain" ? "txt" : kind}`;
}

/** Stands between tool results and a user message for servers that refuse the two in a row. */
export const AFTER_RESULTS = "I have the tool results.";

/** A result's text for vendors that have no field for failure and refuse an empty one. */
export function plainResult(message: ToolResultMessage): string {
  const text = textOf(message.content, "\n");
  if (text !== "") return text;
  const media = message.content.some((block) => block.type !== "text");
  if (media) return message.isError ? "(failed; see attachment)" : "(see attachment)";
  return message.isError ? "(failed without a message)" : "(no output)";
}

/** The blocks of a result that are not text. */
export function resultMedia(message: ToolResultMessage): InputBlock[] {
  return message.content.filter((block) => block.type !== "text");
}

/**
 * A call's arguments for the history, as they came where that is possible. What was no JSON object goes back as an
 * empty one, since servers parse it; the call's result tells the model what was wrong.
 */
export function replayArguments(call: ToolCallBlock): string {
  if (call.args === undefined || call.argsText.trim() === "") return "{}";
  return hasLoneSurrogates(call.argsText) ? JSON.stringify(call.args) : call.argsText;
}

/** An escaped half of a surrogate pair without its other half. */
const LONE_ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

/** Whether JSON text holds half a surrogate pair, as itself or as an escape such as `\ud83d`. */
function hasLoneSurrogates(text: string): boolean {
  return !text.isWellFormed() || LONE_ESCAPE.test(text);
}
