import { createServer, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createWebFetchTool } from "../src/index.ts";
import type { WebSearchSettings } from "../src/web/search-engines.ts";
import { createWebSearchTool } from "../src/web/search-tool.ts";
import { createPageLinks } from "../src/web/session-links.ts";
import { caller, textOf } from "./harness.ts";

interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** Starts a search service with a fixed response. */
async function service(answer: unknown, status = 200) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked.push({
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      response.writeHead(status).end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen");
  return { url: `http://127.0.0.1:${address.port}`, asked };
}

const found = {
  title: "A <strong>title</strong>",
  url: "https://example.com/a",
  content: "Some\u202e words.",
};
const search = (settings: WebSearchSettings) => caller([createWebSearchTool({ settings })]);

test("queries Brave with its key, and returns the results", async () => {
  const { url, asked } = await service({ web: { results: [{ ...found, description: "Some words." }] } });
  const run = search({ engine: "brave", apiKey: "key-1", url: `${url}/res/v1/web/search` });
  const result = await run.call("web_search", { query: "what is it?", limit: 3 });
  expect(textOf(result)).toBe("1. A title\nhttps://example.com/a\nSome words.");
  expect(asked[0]).toMatchObject({
    url: "/res/v1/web/search?q=what+is+it%3F&count=3",
    headers: { "x-subscription-token": "key-1" },
  });
  expect(run.state.facts.taint).toMatchObject([{ source: "web" }]);
});

test("queries Tavily with its key", async () => {
  const { url, asked } = await service({ results: [found] });
  const run = search({ engine: "tavily", apiKey: "key-2", url });
  expect(textOf(await run.call("web_search", { query: "x" }))).toBe(
    "1. A title\nhttps://example.com/a\nSome words.",
  );
  expect(asked[0]).toMatchObject({ headers: { authorization: "Bearer key-2" } });
  expect(JSON.parse(asked[0]?.body ?? "")).toEqual({ query: "x", max_results: 5 });
});

test("queries SearXNG at its address", async () => {
  const { url, asked } = await service({ results: Array.from({ length: 30 }, () => found) });
  const text = textOf(
    await search({ engine: "searxng", url: `${url}/find` }).call("web_search", { query: "x" }),
  );
  expect(asked[0]?.url).toBe("/find/search?q=x&format=json");
  expect(text.match(/^\d+\./gm)).toHaveLength(5);
});

test.each([
  ["a refusal", {}, 429, /status 429/],
  ["what is no JSON", "<html>", 200, /understood/],
  ["another form", { results: [{ title: 1 }] }, 200, /understood/],
  ["far too much", "x".repeat(3_000_000), 200, /too large/],
])("reports %s of the service", async (_name, answer, status, problem) => {
  const { url } = await service(answer, status);
  const result = await search({ engine: "searxng", url }).call("web_search", { query: "x" });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(problem);
});

test("a tainted run may fetch its results, and needs approval for other addresses", async () => {
  const { url } = await service({ results: [found] });
  const pageLinks = createPageLinks();
  const fetch = async (address: string) => ({
    url: address,
    contentType: "text/plain",
    bytes: Buffer.from("page"),
  });
  const run = caller([
    createWebSearchTool({ settings: { engine: "searxng", url }, pageLinks }),
    createWebFetchTool({ fetch, pageLinks }),
  ]);
  await run.call("web_search", { query: "x" });
  expect(textOf(await run.call("web_fetch", { url: found.url }))).toContain("page");
  expect((await run.call("web_fetch", { url: "https://example.com/?leak=1" })).isError).toBe(true);
});

test("a page is fetched once in 15 minutes, and continued from the cache", async () => {
  let now = 1_000_000;
  let fetched = 0;
  const fetch = async (url: string) => {
    fetched += 1;
    return { url, contentType: "text/plain", bytes: Buffer.from(`${"word ".repeat(5_000)}end`) };
  };
  const run = caller([createWebFetchTool({ fetch, now: () => now })], { resultChars: 10_000 });
  const first = textOf(await run.call("web_fetch", { url: "https://example.com/a" }));
  const offset = Number(/offset=(\d+)/.exec(first)?.[1]);
  expect(offset).toBe(9_000);
  await run.call("web_fetch", { url: "https://example.com/a#part", offset });
  const last = textOf(await run.call("web_fetch", { url: "https://example.com/a", offset: 24_000 }));
  expect(last).toMatch(/end$/);
  expect(fetched).toBe(1);
  now += 15 * 60_000 + 1;
  await run.call("web_fetch", { url: "https://example.com/a" });
  expect(fetched).toBe(2);
});
