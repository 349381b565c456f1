import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

export const signInsQuery = (client: Client) =>
  queryOptions({ queryKey: ["sign-ins"], queryFn: () => client.signIns() });

export const tokensQuery = (client: Client) =>
  queryOptions({ queryKey: ["tokens"], queryFn: () => client.tokens() });
