import type { JsonObject } from "@signalbox/agent-core";
import { isJsonObject } from "../json.ts";

/** What a tool call's argument text turned out to be. */
export type ParsedArguments =
  | { readonly args: JsonObject }
  | { readonly args: undefined; readonly argsError: string };

/** Parses argument text once, when its block is sealed. Empty text is how vendors send a call without arguments. */
export function parseArguments(text: string): ParsedArguments {
  if (text === "" || text === "{}" || text.trim() === "") return { args: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return { args: value };
    return { args: undefined, argsError: "The arguments are not a JSON object." };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { args: undefined, argsError: `The arguments are not valid JSON: ${reason}` };
  }
}
