import type { Model, ModelPrices } from "@signalbox/agent-core";
import { stated } from "../shared/json.ts";

/** A model of the built-in table. */
export type Entry = Model & { readonly name: string };

const MICRO = 1_000_000;

/** Where and when prices were read. */
export interface PriceList {
  /** YYYY-MM-DD. */
  readonly checked: string;
  readonly source: string;
}

/** Prices as vendors print them (dollars per million tokens) in the table's unit. */
export function prices(
  list: PriceList,
  input: number,
  output: number,
  cacheRead?: number,
  cacheWrite?: number,
): ModelPrices {
  const micro = (dollars: number): number => Math.round(dollars * MICRO);
  return {
    input: micro(input),
    output: micro(output),
    ...stated({ cacheRead: cacheRead && micro(cacheRead), cacheWrite: cacheWrite && micro(cacheWrite) }),
    ...list,
  };
}
