import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  reasonOf,
  toWellFormed,
} from "@signalbox/agent-core";
import { withoutFence } from "./code-fence.ts";

/** The parsed arguments of a tool call, or the reason why they could not be parsed. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

/** The rest of the line that opens a code fence. */
const FIRST_LINE = /^[a-z]*\s*\n/i;

/**
 * Parses the argument text of a tool call. Accepts common deviations from a JSON object if they are unambiguous:
 * nothing or `null` for no arguments, a Markdown code fence, a doubly encoded object, unescaped line breaks in strings,
 * chat template tags after the object, and an empty object before it.
 */
export function parseArguments(text: string): ParsedArguments {
  const json = withoutPlaceholder(withoutFence(text, FIRST_LINE));
  if (json === "" || json === "{}") return { args: {} };
  const invalid = (argsError: string): ParsedArguments => ({ args: undefined, argsError });
  try {
    const value = decode(json);
    if (!isJsonObject(value)) return invalid("The arguments are not a JSON object.");
    if (isDeeperThan(value, MAX_JSON_DEPTH))
      return invalid(`The arguments nest deeper than ${MAX_JSON_DEPTH} levels.`);
    return { args: toWellFormed(value) };
  } catch (error) {
    return invalid(`The arguments are not valid JSON: ${reasonOf(error)}`);
  }
}

/** Removes an empty object in front of another one. */
export function withoutPlaceholder(json: string): string {
  return json.replace(/^\s*\{\}\s*(?=\{)/, "");
}

function decode(json: string): JsonValue {
  const value = parse(json);
  if (value === null) return {};
  if (typeof value !== "string") return value;
  const inner = value.trim();
  if (inner === "" || inner === "null") return {};
  return inner.startsWith("{") ? parse(inner) : value;
}

/** @throws SyntaxError that refers to the text as the model wrote it */
function parse(json: string): JsonValue {
  try {
    return JSON.parse(json);
  } catch (error) {
    const [, object = json] = /^(\{[\s\S]*\})\s*(?:<[^<>{}]{1,40}>\s*)+$/.exec(json) ?? [];
    const repaired = escapeControls(object);
    if (repaired === json) throw error;
    try {
      return JSON.parse(repaired);
    } catch {
      throw error;
    }
  }
}

/** Escapes control characters in the strings of a JSON text. Runs in linear time. */
function escapeControls(json: string): string {
  let out = "";
  let from = 0;
  let isInString = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at] ?? "";
    if (isInString && character === "\\") at++;
    else if (character === '"') isInString = !isInString;
    else if (isInString && character < " ") {
      out += json.slice(from, at) + JSON.stringify(character).slice(1, -1);
      from = at + 1;
    }
  }
  return out + json.slice(from);
}
