import { z } from "zod";
import { defineTool, type ToolDefinition } from "../define.ts";
import { failure, success } from "../result.ts";
import { SearchError, type SearchHit, searchWeb, type WebSearchSettings } from "./search-engines.ts";
import { createSeenLinks, type SeenLinks } from "./seen-links.ts";

export interface WebSearchToolOptions {
  readonly settings: WebSearchSettings;
  /** Links of what runs have read, shared with `web_fetch`, which may then read what was found. */
  readonly seen?: SeenLinks;
}

const DEFAULT_HITS = 5;
const MAX_HITS = 10;
const MAX_TEXT = 500;

/** `web_search`: asks the search service of the configuration. No effects; what it brings in taints the run. */
export function createWebSearchTool({
  settings,
  seen = createSeenLinks(),
}: WebSearchToolOptions): ToolDefinition {
  return defineTool({
    name: "web_search",
    description:
      "Search the web. Returns titles, addresses and a few lines of each result; read more with web_fetch.",
    inputSchema: z.object({
      query: z.string().min(1).max(400),
      limit: z.int().min(1).max(MAX_HITS).optional().describe(`Default ${DEFAULT_HITS}`),
    }),
    effects: "none",
    execution: "parallel",
    taints: "web",
    async run({ args }, { signal }, { record }) {
      const { query, limit = DEFAULT_HITS } = args;
      try {
        const hits = await searchWeb(settings, { query, limit }, signal);
        const text = hits.map(hitText).join("\n\n");
        seen.add(
          record.sessionKey,
          hits.map(({ url }) => url),
          text,
        );
        return success(hits.length === 0 ? "(nothing found)" : text, { hits: hits.length });
      } catch (error) {
        if (error instanceof SearchError) return failure(error.message);
        throw error;
      }
    },
  });
}

/** Services mark the words that were looked for. */
function hitText({ title, url, text }: SearchHit, index: number): string {
  const plain = (marked: string): string =>
    marked
      .replace(/<\/?[a-z]{1,10}>/gi, "")
      .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim();
  return `${index + 1}. ${plain(title).slice(0, 200)}\n${url.slice(0, 2_000)}\n${plain(text).slice(0, MAX_TEXT)}`.toWellFormed();
}
