import { z } from "zod";

/** A search service with its API key or URL. */
export type WebSearchSettings =
  | { readonly engine: "brave" | "tavily"; readonly apiKey: string; readonly url?: string }
  | { readonly engine: "searxng"; readonly url: string };

/** One search result. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly text: string;
}

export interface SearchQuery {
  readonly query: string;
  readonly limit: number;
}

/** A search service refused the request or returned an invalid response. */
export class SearchError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "SearchError";
  }
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2_000_000;

/**
 * Queries a search service.
 *
 * @throws SearchError, or the signal's reason if it is aborted
 */
export async function searchWeb(
  settings: WebSearchSettings,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<readonly SearchHit[]> {
  const { url, headers = {}, body } = createRequest(settings, query);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const { request } = await import("undici");
  try {
    const response = await request(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { accept: "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, limit]),
    });
    const text = await readLimited(response.body);
    if (response.statusCode !== 200)
      throw new SearchError(`The search service responded with status ${response.statusCode}.`);
    return parseHits(settings, JSON.parse(text)).slice(0, query.limit);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof SearchError) throw error;
    const why = limit.aborted ? "took too long" : "could not be reached or understood";
    throw new SearchError(`The search service ${why}.`, { cause: error });
  }
}

interface SearchRequest {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with POST. */
  readonly body?: object;
}

/** Sources: api-dashboard.search.brave.com, docs.tavily.com, docs.searxng.org/dev/search_api.html. */
function createRequest(settings: WebSearchSettings, { query, limit }: SearchQuery): SearchRequest {
  switch (settings.engine) {
    case "brave": {
      const url = new URL(settings.url ?? "https://api.search.brave.com/res/v1/web/search");
      url.searchParams.set("q", query);
      url.searchParams.set("count", String(limit));
      return { url, headers: { "x-subscription-token": settings.apiKey } };
    }
    case "tavily":
      return {
        url: new URL(settings.url ?? "https://api.tavily.com/search"),
        headers: { authorization: `Bearer ${settings.apiKey}`, "content-type": "application/json" },
        body: { query, max_results: limit },
      };
    case "searxng": {
      const url = new URL("search", settings.url.endsWith("/") ? settings.url : `${settings.url}/`);
      url.searchParams.set("q", query);
      url.searchParams.set("format", "json");
      return { url };
    }
  }
}

const BRAVE = z.object({
  web: z
    .object({
      results: z.array(z.object({ title: z.string(), url: z.string(), description: z.string().default("") })),
    })
    .optional(),
});
/** Tavily and SearXNG use the same names. */
const RESULTS = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), content: z.string().nullish() })),
});

function parseHits({ engine }: WebSearchSettings, answer: unknown): readonly SearchHit[] {
  if (engine === "brave") {
    const { web } = BRAVE.parse(answer);
    return (web?.results ?? []).map(({ title, url, description }) => ({ title, url, text: description }));
  }
  return RESULTS.parse(answer).results.map(({ title, url, content }) => ({
    title,
    url,
    text: content ?? "",
  }));
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new SearchError("The search service's response was too large.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
