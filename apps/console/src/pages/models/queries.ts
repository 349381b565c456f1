import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const modelsQuery = (client: Client) =>
  queryOptions({ queryKey: ["models"], queryFn: () => client.models() });
