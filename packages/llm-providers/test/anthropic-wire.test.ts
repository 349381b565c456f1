import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";
import type { Message, Model } from "@signalbox/agent-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import type { FetchLike } from "../src/provider/provider.ts";
import { type ReadTurn, readTurn } from "../src/testkit/index.ts";
import { apiHeaders } from "./support/api-headers.ts";

const model: Model = {
  id: "claude-sonnet-4-6",
  provider: "anthropic",
  api: "anthropic-messages",
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  input: ["text"],
  thinking: [],
  tools: "native",
};

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const ANSWER = [
  { type: "message_start", message: { id: "msg_1", usage: { input_tokens: 1, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Grüß dich" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join("");

function accept(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "request-id": "req_7" }).end(ANSWER);
}

const seen: Seen[] = [];
let answer: (response: ServerResponse) => void = accept;
let url = "";
const server = createServer(async (request, response) => {
  const { method, url: path, headers } = request;
  seen.push({ method, url: path, headers, body: await text(request) });
  answer(response);
});

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address === "object" && address !== null) url = `http://127.0.0.1:${address.port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => {
  seen.length = 0;
  answer = accept;
});

const HI: readonly Message[] = [{ role: "user", content: "Hi.", timestamp: 0 }];

function ask(fetch?: FetchLike, messages = HI): Promise<ReadTurn> {
  const config = { apiKey: "k", baseUrl: url, headers: { "X-Team": "blue" }, now: () => 0 };
  const stream = anthropicMessages.connect(fetch === undefined ? config : { ...config, fetch });
  return readTurn(stream(model, { system: { stable: "" }, messages, tools: [] }));
}

const PATHS: readonly (readonly [string, FetchLike | undefined])[] = [
  ["the built-in transport", undefined],
  ["the host's own fetch", (input, init) => fetch(input, init)],
];

describe.each(PATHS)("over %s", (_name, fetch) => {
  it("sends the same request as the vendor's SDK", async () => {
    const client = new Anthropic({
      apiKey: "k",
      authToken: null,
      baseURL: url,
      maxRetries: 0,
      defaultHeaders: { "x-api-key": "k", "X-Team": "blue" },
    });
    const asked = { model: model.id, max_tokens: 1, messages: [], stream: true as const };
    for await (const _ of await client.messages.create(asked));
    const turn = await ask(fetch);
    const [theirs, ours] = seen;
    expect(turn.message.content).toEqual([{ type: "text", text: "Grüß dich" }]);
    expect(turn.events[0]).toMatchObject({ type: "start", request: { requestId: "req_7" } });
    expect([ours?.method, ours?.url]).toEqual([theirs?.method, theirs?.url]);
    expect(apiHeaders(ours?.headers)).toEqual(apiHeaders(theirs?.headers));
    expect(ours?.headers).toMatchObject({ "x-team": "blue", "x-api-key": "k" });
  });

  it("sends a long conversation completely and in order, with any characters", async () => {
    const said = (n: number): string => `${n % 7 === 0 ? "Grüße 你好 🚦" : "plain"} ${n} ${"x".repeat(90)}`;
    const messages = Array.from({ length: 1_001 }, (_, n): Message => {
      const content = said(n);
      if (n % 2 === 0) return { role: "user", content, timestamp: n };
      const { api, provider, id } = model;
      const block = { type: "text" as const, text: content };
      return {
        role: "assistant",
        content: [block],
        api,
        provider,
        model: id,
        stopReason: "end_turn",
        timestamp: n,
      };
    });
    expect((await ask(fetch, messages)).error).toBeUndefined();
    const [request] = seen;
    expect(request?.headers["content-length"]).toBe(String(Buffer.byteLength(request?.body ?? "")));
    const body: { messages: { role: string; content: { text: string; cache_control?: object }[] }[] } =
      JSON.parse(request?.body ?? "");
    expect(body.messages.map(({ content }) => content[0]?.text)).toEqual(messages.map((_, n) => said(n)));
    const marks = body.messages.flatMap(({ content }, n) => (content[0]?.cache_control ? [n] : []));
    expect(marks).toEqual([998, 1_000]);
  });

  it("reports a refusal in the vendor's words", async () => {
    answer = (response) => {
      const error = { type: "rate_limit_error", message: "Slow down, please." };
      response
        .writeHead(429, { "retry-after": "7", "request-id": "req_8", "content-type": "application/json" })
        .end(JSON.stringify({ type: "error", error }));
    };
    expect((await ask(fetch)).error).toMatchObject({
      code: "rate_limit",
      message: "Slow down, please.",
      status: 429,
      retryAfterMs: 7_000,
      requestId: "req_8",
    });
  });

  it.each([
    ["a proxy's page", 502, "<html>Bad gateway</html>", "overloaded"],
    ["nothing at all", 503, "", "overloaded"],
    ["JSON that is no object", 400, "7", "invalid"],
  ])("classifies %s", async (_what, status, body, code) => {
    answer = (response) => response.writeHead(status).end(body);
    expect((await ask(fetch)).error).toMatchObject({ code, status });
  });

  it("classifies a connection that broke before the response", async () => {
    answer = (response) => response.destroy();
    expect((await ask(fetch)).error).toMatchObject({ code: "network" });
  });
});

it.each(["before the answer", "in the middle of it"])(
  "closes the connection when aborted %s",
  async (when) => {
    let open: ServerResponse | undefined;
    const asked = new Promise<void>((resolve) => {
      answer = (response) => {
        open = response;
        if (when !== "before the answer") response.writeHead(200).write(ANSWER.slice(0, ANSWER.length / 2));
        resolve();
      };
    });
    const abort = new AbortController();
    const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: url });
    const messages = [{ role: "user", content: "Hi.", timestamp: 0 }] as const;
    const context = { system: { stable: "" }, messages, tools: [] };
    const turn = readTurn(stream(model, context, { signal: abort.signal }));
    await asked;
    const closed = once(open ?? server, "close");
    abort.abort();
    expect((await turn).error).toMatchObject({ code: "aborted" });
    await closed;
  },
);

it("closes the connection when the consumer leaves", async () => {
  let open: ServerResponse | undefined;
  answer = (response) => {
    open = response;
    response.writeHead(200).write(ANSWER.slice(0, ANSWER.length / 2));
  };
  const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: url });
  for await (const event of stream(model, { system: { stable: "" }, messages: HI, tools: [] }))
    if (event.type === "start") break;
  await once(open ?? server, "close");
});

it.each(PATHS)("over %s it follows no redirects, which would reveal the key", async (_name, fetch) => {
  answer = (response) => response.writeHead(307, { location: `${url}/elsewhere` }).end();
  expect((await ask(fetch)).error?.status).toBe(307);
  expect(seen.map((one) => one.url)).toEqual(["/v1/messages"]);
});

it("gives the host's fetch new headers for each request", async () => {
  const tamper: FetchLike = (input, init) => {
    const headers = init?.headers instanceof Headers ? init.headers : new Headers();
    headers.append("x-count", "1");
    return fetch(input, { ...init, headers });
  };
  const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: url, fetch: tamper });
  for (let i = 0; i < 2; i++)
    await readTurn(
      stream(model, {
        system: { stable: "" },
        messages: [{ role: "user", content: "Hi.", timestamp: 0 }],
        tools: [],
      }),
    );
  expect(seen.map((one) => one.headers["x-count"])).toEqual(["1", "1"]);
});
