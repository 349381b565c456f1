import { encode } from "./json.ts";
import type { ToolIntent } from "./types/runs.ts";

/** A requested call with encoded arguments. */
export interface PreparedIntent {
  readonly intent: ToolIntent;
  readonly args: string;
}

/** @throws StoreError `invalid` */
export function prepareIntents(intents: readonly ToolIntent[] | undefined): PreparedIntent[] {
  return (intents ?? []).map((intent) => ({
    intent,
    args: encode(intent.args, "The arguments of a tool call"),
  }));
}
