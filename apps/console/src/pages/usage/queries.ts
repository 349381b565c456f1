import type { Client, UsageQuery, UsageSeriesQuery } from "@signalbox/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** Usage of runs and balances of budgets. */
export const usageQuery = (client: Client, wanted: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => client.usage(wanted),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });

/** Usage of runs by day and group. */
export const usageSeriesQuery = (client: Client, wanted: UsageSeriesQuery) =>
  queryOptions({
    queryKey: ["usage", "series", wanted],
    queryFn: () => client.usageSeries(wanted),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
