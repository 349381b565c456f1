import type { Client, LogLevel } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** The latest lines of the log. */
export const logsQuery = (client: Client, level: LogLevel) =>
  queryOptions({
    queryKey: ["logs", level],
    queryFn: () => client.logs({ level, lines: 300 }),
    refetchInterval: 3_000,
  });
