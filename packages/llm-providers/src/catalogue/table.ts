import type { Model, ModelPrices } from "@signalbox/agent-core";
import { demoModel } from "../demo/provider.ts";
import { withoutUndefined } from "../shared/json.ts";
import { LEVELS } from "../shared/request.ts";
import table from "./models.json" with { type: "json" };

type Sizes = Pick<Model, "contextWindow" | "maxOutputTokens">;

interface Family extends Sizes {
  readonly input: readonly string[];
  readonly thinking: readonly string[];
  readonly quirks?: object | undefined;
  /**
   * Price factors for long prompts. Above `above` input tokens, the input and cache prices are multiplied by `input`,
   * and the output price by `output`.
   */
  readonly longPrompts?: Readonly<Record<"above" | "input" | "output", number>> | undefined;
  readonly models: readonly { id: string; name: string; dollars?: readonly number[] | undefined }[];
}

interface Vendor {
  readonly provider: string;
  readonly api: string;
  readonly keys: readonly string[];
  readonly default: string;
  readonly unknown: Sizes;
}

type Amounts = Pick<ModelPrices, "input" | "output" | "cacheRead" | "cacheWrite">;

const MODALITIES: Model["input"] = ["text", "image", "audio", "file"];

/**
 * Converts dollars per million tokens to micro-dollars.
 *
 * @param inputTimes factor for the input and cache prices
 */
function amounts(dollars: readonly number[], inputTimes = 1, outputTimes = 1): Amounts {
  const micro = (price: number, times: number): number => Math.round(price * times * 1_000_000);
  const [input = 0, output = 0, ...cache] = dollars;
  const [cacheRead, cacheWrite] = cache.map((price) => micro(price, inputTimes));
  return {
    input: micro(input, inputTimes),
    output: micro(output, outputTimes),
    ...withoutUndefined({ cacheRead, cacheWrite }),
  };
}

function entriesOf(place: Pick<Model, "provider" | "api">, listed: Omit<ModelPrices, keyof Amounts>) {
  return ({ models, longPrompts, quirks, input, thinking, ...sizes }: Family): Model[] =>
    models.map(({ id, name, dollars }) => {
      const long = dollars && longPrompts;
      const longPrices = long && { above: long.above, ...amounts(dollars, long.input, long.output) };
      return {
        ...place,
        id,
        name,
        ...sizes,
        input: MODALITIES.filter((kind) => input.includes(kind)),
        thinking: LEVELS.filter((level) => thinking.includes(level)),
        tools: "native",
        ...(dollars && { prices: { ...amounts(dollars), ...listed } }),
        quirks: { longPrices, ...quirks },
      };
    });
}

/** The well-known vendors, in the order in which a default model is chosen. */
export const VENDORS: readonly Vendor[] = table.vendors;

export const TABLE: readonly Model[] = [
  ...table.vendors.flatMap(({ provider, api, prices, families }) =>
    families.flatMap((family: Family) => entriesOf({ provider, api }, prices)(family)),
  ),
  demoModel,
];
