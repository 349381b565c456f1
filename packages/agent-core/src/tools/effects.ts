/**
 * What running a tool again would do: `none` reads only; `idempotent` gives the same state again; `keyed` takes effect
 * once for each id of a call, so that a call can be run again, but not made again under another id; `external` reaches
 * outside and is never repeated blindly. Calls of the last two are to be on record before they run.
 */
export type ToolEffects = "none" | "idempotent" | "keyed" | "external";

/** Whether the model may make a call again, under another id, without looking what became of it. */
export function isHarmless(effects: ToolEffects): boolean {
  return effects === "none" || effects === "idempotent";
}
