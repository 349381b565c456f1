import type { Client } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** The user's conversations, latest first. The connection reports changes, so the list is not polled. */
export const conversationsQuery = (client: Client) =>
  queryOptions({ queryKey: ["conversations"], queryFn: () => client.conversations() });
