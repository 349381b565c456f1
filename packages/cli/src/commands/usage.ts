import type { UsageGroup } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { printTable } from "../table.ts";

const DAY_MS = 86_400_000;

/** `signalbox usage`: tokens and money of the runs that have ended, also of those that are not kept any more. */
export async function usage(
  options: CommonOptions & { readonly by: "day" | "agent" | "session" | "sender"; readonly days?: number },
): Promise<void> {
  const { by, days } = options;
  const from = days === undefined ? {} : { from: Date.now() - (days - 1) * DAY_MS };
  const groups = await withStore(options, "read", (store) => store.usage.sum({ by, ...from }));
  const micros = groups.reduce((sum, { costMicros }) => sum + costMicros, 0);
  printTable(options.json, groups, {
    none: "Nothing has been used.",
    columns: {
      [by.toUpperCase()]: (group) => group.by || "(unknown)",
      RUNS: ({ runs }) => String(runs),
      CALLS: ({ modelCalls }) => String(modelCalls),
      "TOKENS IN": ({ inputTokens }) => String(inputTokens),
      "CACHE READ": ({ cacheReadTokens }) => String(cacheReadTokens),
      "CACHE WRITE": ({ cacheWriteTokens }) => String(cacheWriteTokens),
      "TOKENS OUT": ({ outputTokens }) => String(outputTokens),
      "COST (USD)": ({ costMicros }: UsageGroup) => dollars(costMicros),
    },
    below: [
      `In all: ${dollars(micros)} USD. What is read from and written to a cache is part of the tokens in.`,
    ],
  });
}

/** To the last millionth. */
function dollars(micros: number): string {
  return (micros / 1e6).toFixed(6);
}
