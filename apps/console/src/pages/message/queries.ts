import type { Client, Language } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** Explanation and trace of one message. */
export const whyQuery = (client: Client, messageId: string, language: Language) =>
  queryOptions({
    queryKey: ["why", messageId, language],
    queryFn: () => client.why(messageId, language),
    refetchInterval: 3_000,
  });
