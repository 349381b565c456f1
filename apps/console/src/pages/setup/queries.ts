import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** The providers and channels that can be set up. */
export const setupQuery = (client: Client) =>
  queryOptions({ queryKey: ["setup"], queryFn: () => client.setup() });
