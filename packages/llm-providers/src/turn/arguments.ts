import {
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  reasonOf,
  toWellFormed,
} from "@signalbox/agent-core";

/** What a tool call's argument text turned out to be. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

/** Parses argument text once, when its block is sealed. Empty text is how vendors send a call without arguments. */
export function parseArguments(text: string): ParsedArguments {
  if (text === "" || text === "{}" || text.trim() === "") return { args: {} };
  const wrong = (argsError: string): ParsedArguments => ({ args: undefined, argsError });
  try {
    const value: JsonValue = JSON.parse(text);
    if (!isJsonObject(value)) return wrong("The arguments are not a JSON object.");
    if (isDeeperThan(value, MAX_JSON_DEPTH))
      return wrong(`The arguments nest deeper than ${MAX_JSON_DEPTH} levels.`);
    return { args: toWellFormed(value) };
  } catch (error) {
    return wrong(`The arguments are not valid JSON: ${reasonOf(error)}`);
  }
}
