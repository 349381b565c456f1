import type { JsonObject, JsonValue } from "@signalbox/agent-core";
import { isRaw, wellFormed } from "../shared/json.ts";

/** What a tool call's argument text turned out to be. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

/** Deeper arguments could be read, but not written again by every part that sends a conversation on. */
const MAX_DEPTH = 512;

/** Whether JSON text nests deeper than that; looks at each character once. */
function tooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") {
      if (++depth > MAX_DEPTH) return true;
    } else if (char === "}" || char === "]") depth--;
  }
  return false;
}

/** An escaped half of a surrogate pair without its other half. */
const LONE_ESCAPE =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

/** Whether JSON text holds half a surrogate pair, as itself or as an escape such as `\ud83d`. */
export function hasLoneSurrogates(text: string): boolean {
  return !text.isWellFormed() || LONE_ESCAPE.test(text);
}

/** Parses argument text once, when its block is sealed. Empty text is how vendors send a call without arguments. */
export function parseArguments(text: string): ParsedArguments {
  if (text === "" || text === "{}" || text.trim() === "") return { args: {} };
  if (tooDeep(text))
    return { args: undefined, argsError: `The arguments nest deeper than ${MAX_DEPTH} levels.` };
  try {
    const value: JsonValue = JSON.parse(text);
    if (isRaw(value)) return { args: hasLoneSurrogates(text) ? wellFormed(value) : value };
    return { args: undefined, argsError: "The arguments are not a JSON object." };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { args: undefined, argsError: `The arguments are not valid JSON: ${reason}` };
  }
}
