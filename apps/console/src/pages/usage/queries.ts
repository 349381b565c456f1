import type { Client, UsageQuery } from "@signalbox/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** Usage of runs and balances of budgets. */
export const usageQuery = (client: Client, wanted: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => client.usage(wanted),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
