import type { ModelRequest } from "../provider/define-provider.ts";
import { stated } from "./json.ts";
import type { WarningCode } from "./warnings.ts";

/** How a model is asked to choose among tokens. */
type Sampling = { readonly [Name in "temperature" | "topP" | "seed"]?: number | undefined };

/** What of `wanted` the model and its API take; there is a warning for each thing left out. */
export function samplingFor(
  { model, warn }: ModelRequest,
  wanted: Sampling,
  taken: { readonly [Name in keyof Sampling]-?: boolean },
): { readonly [Name in keyof Sampling]?: number } {
  const unlessRefused = (name: keyof Sampling, code: WarningCode, what: string): number | undefined => {
    if (wanted[name] === undefined || taken[name]) return wanted[name];
    warn(code, `${model.id} takes no ${what} in this request; it was left out.`);
    return undefined;
  };
  return stated({
    temperature: unlessRefused("temperature", "temperature.dropped", "temperature"),
    topP: unlessRefused("topP", "top_p.dropped", "top_p"),
    seed: unlessRefused("seed", "seed.dropped", "seed"),
  });
}
