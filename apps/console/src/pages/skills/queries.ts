import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const skillsQuery = (client: Client) =>
  queryOptions({ queryKey: ["skills"], queryFn: () => client.skills() });
