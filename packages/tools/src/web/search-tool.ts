import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { failure, success } from "../result.ts";
import { SearchError, type SearchHit, searchWeb, type WebSearchSettings } from "./search-engines.ts";
import { createPageLinks, type SessionLinks } from "./session-links.ts";

export interface WebSearchToolOptions {
  readonly settings: WebSearchSettings;
  /** Shared with `web_fetch`, so that it can read the results without approval. */
  readonly pageLinks?: SessionLinks;
}

const DEFAULT_HITS = 5;
const MAX_HITS = 10;
const MAX_TEXT_CHARS = 500;

/** Creates the tool `web_search`, which queries the configured search service. The results taint the run. */
export function createWebSearchTool({
  settings,
  pageLinks = createPageLinks(),
}: WebSearchToolOptions): ToolDefinition {
  return defineTool({
    name: "web_search",
    description:
      "Search the web. Returns the title, address and an excerpt of each result; read a result with web_fetch.",
    inputSchema: z.object({
      query: z.string().min(1).max(400),
      limit: z.int().min(1).max(MAX_HITS).optional().describe(`Number of results. Default: ${DEFAULT_HITS}`),
    }),
    effects: "none",
    execution: "parallel",
    taints: "web",
    async run({ args }, { signal }, { record }) {
      const { query, limit = DEFAULT_HITS } = args;
      try {
        const hits = await searchWeb(settings, { query, limit }, signal);
        const text = hits.map(formatHit).join("\n\n");
        pageLinks.add(
          record.sessionKey,
          text,
          hits.map(({ url }) => url),
        );
        return success(hits.length === 0 ? "(nothing found)" : text, { hits: hits.length });
      } catch (error) {
        if (error instanceof SearchError) return failure(error.message);
        throw error;
      }
    },
  });
}

/** Formats a result as plain text. Some services highlight the search terms with tags, which are removed. */
function formatHit({ title, url, text }: SearchHit, index: number): string {
  const plain = (marked: string): string =>
    marked
      .replace(/<\/?[a-z]{1,10}>/gi, "")
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim();
  return `${index + 1}. ${plain(title).slice(0, 200)}\n${url.slice(0, 2_000)}\n${plain(text).slice(0, MAX_TEXT_CHARS)}`.toWellFormed();
}
