import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const tokensQuery = (client: Client) =>
  queryOptions({ queryKey: ["tokens"], queryFn: () => client.tokens() });
