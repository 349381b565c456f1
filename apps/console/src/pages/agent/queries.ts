import { type Client, isClientError, type Language } from "@signalbox/client";
import { queryOptions } from "@tanstack/react-query";

/** An agent, with the reasons for its tools in a language. */
export const agentQuery = (client: Client, id: string, language: Language) =>
  queryOptions({ queryKey: ["agent", id, language], queryFn: () => client.agent(id, language) });

/** The latest prompt of an agent. `null` if it has not answered recently. */
export const promptQuery = (client: Client, id: string) =>
  queryOptions({
    queryKey: ["agent-prompt", id],
    queryFn: () =>
      client.agentPrompt(id).catch((error: unknown) => {
        if (isClientError(error) && error.code === "not_found") return null;
        throw error;
      }),
  });

export const folderQuery = (client: Client, id: string, path: string) =>
  queryOptions({ queryKey: ["agent-files", id, path], queryFn: () => client.agentFiles(id, path) });

export const fileQuery = (client: Client, id: string, path: string) =>
  queryOptions({ queryKey: ["agent-file", id, path], queryFn: () => client.agentFile(id, path) });
