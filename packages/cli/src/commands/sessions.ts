import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { printTable, time } from "../table.ts";

/** `signalbox sessions list` */
export async function list(options: CommonOptions): Promise<void> {
  const rows = await withStore(options, "read", (store) => store.sessions.list());
  printTable(options.json, rows, {
    none: "There is no conversation yet.",
    columns: {
      "LAST ACTIVE": ({ updatedAt }) => time(updatedAt),
      TITLE: ({ title }) => title ?? "",
      MESSAGES: ({ messageCount }) => String(messageCount),
      TOKENS: ({ totals }) => String(totals.inputTokens + totals.outputTokens),
      "COST (USD)": ({ totals }) => (totals.costMicros > 0 ? (totals.costMicros / 1e6).toFixed(4) : ""),
      SESSION: ({ key }) => key,
    },
  });
}
