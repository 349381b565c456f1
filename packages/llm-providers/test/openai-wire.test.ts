import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn } from "../src/testkit/index.ts";
import { apiHeaders } from "./support/api-headers.ts";
import { testModel } from "./support/fixtures.ts";

interface Seen {
  readonly asked: string;
  readonly headers: IncomingHttpHeaders;
}

const seen: Seen[] = [];
let baseUrl = "";
const server = createServer((request, response) => {
  seen.push({ asked: `${request.method} ${request.url}`, headers: request.headers });
  request.resume();
  response.writeHead(200, { "content-type": "text/event-stream" }).end();
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address === "object" && address !== null) baseUrl = `http://127.0.0.1:${address.port}/v1`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen.length = 0;
});

const ENDPOINTS: readonly (readonly [Provider, (sdk: OpenAI) => PromiseLike<AsyncIterable<unknown>>])[] = [
  [openaiChat, ({ chat }) => chat.completions.create({ model: "m", messages: [], stream: true })],
  [openaiResponses, ({ responses }) => responses.create({ model: "m", input: [], stream: true })],
];

it.each(ENDPOINTS)("$api sends the same request as the vendor's SDK", async (provider, ask) => {
  const headers = { "X-Team": "blue" };
  const sdk = new OpenAI({
    apiKey: "k",
    baseURL: baseUrl,
    organization: null,
    project: null,
    maxRetries: 0,
    defaultHeaders: headers,
  });
  for await (const _ of await ask(sdk));
  const stream = provider.connect({ apiKey: "k", baseUrl, headers });
  await readTurn(stream(testModel(provider.api, "m"), { system: { stable: "" }, messages: [], tools: [] }));
  const [theirs, ours] = seen;
  expect(ours?.asked).toBe(theirs?.asked);
  expect(apiHeaders(ours?.headers)).toEqual(apiHeaders(theirs?.headers));
  expect(ours?.headers).toMatchObject({ "x-team": "blue", authorization: "Bearer k" });
});

it.each(ENDPOINTS)("$api accepts an address with a user name and a password", async (provider) => {
  const stream = provider.connect({ apiKey: "k", baseUrl: baseUrl.replace("//", "//name:password@") });
  await readTurn(stream(testModel(provider.api, "m"), { system: { stable: "" }, messages: [], tools: [] }));
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer k"]);
});
