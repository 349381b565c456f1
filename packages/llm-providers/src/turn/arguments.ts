import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  reasonOf,
  toWellFormed,
} from "@signalbox/agent-core";

/** The parsed arguments of a tool call, or why they could not be parsed. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

/**
 * Parses the argument text of a tool call. Accepts what models and servers write instead of a JSON object if there is
 * only one way to read it: nothing or `null` for no arguments, a Markdown code fence, and an object encoded twice.
 */
export function parseArguments(text: string): ParsedArguments {
  const json = withoutFence(text.trim());
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

function withoutFence(text: string): string {
  return /^```[a-z]*\s*\n([\s\S]*?)\n?```$/i.exec(text)?.[1]?.trim() ?? text;
}

function decode(json: string): JsonValue {
  const value: JsonValue = JSON.parse(json);
  if (value === null) return {};
  if (typeof value !== "string") return value;
  const inner = value.trim();
  if (inner === "" || inner === "null") return {};
  return inner.startsWith("{") ? JSON.parse(inner) : value;
}
