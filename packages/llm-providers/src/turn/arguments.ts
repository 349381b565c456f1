import {
  isDeeperThan,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  toWellFormed,
} from "@signalbox/agent-core";
import { isRaw } from "../shared/json.ts";

/** What a tool call's argument text turned out to be. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

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
  try {
    const value: JsonValue = JSON.parse(text);
    if (!isRaw(value)) return { args: undefined, argsError: "The arguments are not a JSON object." };
    if (isDeeperThan(value, MAX_JSON_DEPTH))
      return { args: undefined, argsError: `The arguments nest deeper than ${MAX_JSON_DEPTH} levels.` };
    return { args: toWellFormed(value) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { args: undefined, argsError: `The arguments are not valid JSON: ${reason}` };
  }
}
