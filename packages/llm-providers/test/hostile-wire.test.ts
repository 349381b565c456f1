import type { AssistantMessage } from "@signalbox/agent-core";
import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import { googleGenerative } from "../src/google/index.ts";
import { mistralChat } from "../src/mistral/index.ts";
import { openaiChat } from "../src/openai-chat/index.ts";
import { openaiResponses } from "../src/openai-responses/index.ts";
import type { Provider } from "../src/provider/provider.ts";
import { readTurn } from "../src/testkit/index.ts";
import { fixtures, testModel } from "./support/fixtures.ts";
import { answering, type FinishedTurn, readToEnd } from "./support/replay.ts";

const prices = { input: 3_000_000, output: 15_000_000, cacheRead: 300_000, checked: "2026-11-21" };
const context = {
  system: { stable: "" },
  messages: [{ role: "user", content: "Go.", timestamp: 0 }],
  tools: [],
} as const;

function ask(provider: Provider, body: string, status = 200): Promise<FinishedTurn> {
  const model = { ...testModel(provider.api, "m"), prices };
  const fetch = answering(Buffer.from(body), status);
  const stream = provider.connect({ apiKey: "k", baseUrl: "http://wire/v1", fetch, now: () => 0 });
  return readToEnd(stream(model, context));
}

/** Values that contradict the documentation. */
const ODD: readonly unknown[] = [
  null,
  5,
  -1e9,
  1e308,
  5.5,
  true,
  "constructor",
  "__proto__",
  "7",
  {},
  [],
  [{}],
];

const CODES = new Set(
  "auth billing rate_limit overloaded overflow invalid filter network timeout aborted protocol".split(" "),
);
const STOPS = new Set(
  "end_turn tool_use max_tokens stop_sequence refusal filter context_overflow pause aborted error".split(" "),
);

/** Lists what violates the contract. */
function oddities(message: AssistantMessage): string[] {
  const found: string[] = [];
  const text = (at: string, value: unknown): void => {
    if (typeof value !== "string") found.push(`${at} is ${typeof value}`);
    else if (/undefined|\[object|nullundefined/.test(value)) found.push(`${at}: ${value}`);
  };
  const { content, stopReason, rawStopReason, responseId, error, usage } = message;
  for (const block of content) {
    if ("text" in block) text(`${block.type}.text`, block.text);
    if (block.type === "toolCall")
      for (const key of ["id", "name", "argsText"] as const) text(key, block[key]);
    if (block.type === "citation")
      for (const one of [block.url ?? "", block.title ?? ""]) text("citation", one);
  }
  if (!STOPS.has(stopReason)) found.push(`stopReason ${String(stopReason)}`);
  for (const one of [rawStopReason ?? "", responseId ?? ""]) text("a word", one);
  if (error !== undefined) {
    if (!CODES.has(error.code)) found.push(`code ${String(error.code)}`);
    text("error.message", error.message);
  }
  const counts = [
    ...Object.values(usage?.input ?? {}),
    ...Object.values(usage?.output ?? {}),
    usage?.costMicros,
  ];
  for (const one of counts)
    if (one !== undefined && (!Number.isSafeInteger(one) || one < 0)) found.push(`count ${String(one)}`);
  return found;
}

type Path = readonly (string | number)[];

function* leaves(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value))
    yield* leaves(item, [...path, Array.isArray(value) ? Number(key) : key]);
}

function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  const copy: Record<string | number, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : Object.assign({}, value);
  Object.assign(copy, { [key]: changed(Reflect.get(copy, key), rest, to) });
  return copy;
}

interface Spot {
  readonly name: string;
  with(value: unknown): string;
}

/** Every place in every kind of event of a vendor's streams, once. */
function spotsOf(vendor: string): Spot[] {
  const spots = new Map<string, Spot>();
  for (const bytes of fixtures(vendor).values()) {
    const events = bytes.toString().replaceAll("\r\n", "\n").split("\n\n");
    for (const [at, event] of events.entries()) {
      const data = /^data: ?(\{.*)$/m.exec(event)?.[1];
      let parsed: unknown;
      try {
        parsed = JSON.parse(data ?? "");
      } catch {
        continue;
      }
      const kind =
        JSON.stringify(parsed)
          .match(/"type":"[^"]*"/g)
          ?.join() ?? "";
      for (const path of leaves(parsed)) {
        const name = `${kind} ${path.map((key) => (typeof key === "number" ? "*" : key)).join(".")}`;
        if (spots.has(name)) continue;
        spots.set(name, {
          name,
          with: (value) =>
            events
              .with(
                at,
                `${/^event:.*$/m.exec(event)?.[0] ?? ""}\ndata: ${JSON.stringify(changed(parsed, path, value))}`,
              )
              .join("\n\n"),
        });
      }
    }
  }
  return [...spots.values()];
}

const cases: readonly (readonly [string, Provider])[] = [
  ["anthropic", anthropicMessages],
  ["openai-responses", openaiResponses],
  ["openai-chat", openaiChat],
  ["mistral", mistralChat],
  ["google", googleGenerative],
];

describe.each(cases)(
  "a server that speaks as %s and sends something else in one place",
  (vendor, provider) => {
    const spots = spotsOf(vendor);

    test("gets exactly one end, with valid texts, counts and codes", async () => {
      const wrong: string[] = [];
      for (const [i, spot] of spots.entries()) {
        // All values at each place would take a minute. Each place gets some of them, and each value many places.
        for (const value of ODD.filter((_, j) => (i + j) % 3 === 0)) {
          const told = await ask(provider, spot.with(value));
          for (const one of oddities(told.message))
            wrong.push(`${spot.name} = ${JSON.stringify(value)}: ${one}`);
        }
      }
      expect(wrong).toEqual([]);
      expect(spots.length).toBeGreaterThan(20);
    });

    test.each(["constructor", "__proto__", "toString", 5, null, {}])(
      "is understood when it refuses with the word %j",
      async (word) => {
        for (const body of [
          { type: "error", error: { type: word, code: word, status: word, message: word } },
          { error: word, message: word, code: word, type: word, object: "error" },
        ]) {
          const text = JSON.stringify(body);
          for (const told of [await ask(provider, text, 400), await ask(provider, `data: ${text}\n\n`)])
            expect(oddities(told.message)).toEqual([]);
        }
      },
    );

    test("may start with a byte order mark", async () => {
      const text = fixtures(vendor).get("text")?.toString() ?? "";
      const plain = await ask(provider, text);
      expect(plain.terminal.type).toBe("finish");
      expect((await ask(provider, `\uFEFF${text}`)).message).toEqual(plain.message);
    });
  },
);

test("reaches a cost limit whatever usage a server reports", async () => {
  const said = (output: unknown): string =>
    [
      { type: "message_start", message: { id: "m", usage: { input_tokens: 1_000, output_tokens: 1 } } },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: output } },
      { type: "message_stop" },
    ]
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
  for (const output of [-1e9, 1e308, "1000", 0.5, null]) {
    const { usage } = (await ask(anthropicMessages, said(output))).message;
    // The last valid token counts.
    expect(usage).toMatchObject({ output: { total: 1 }, costMicros: 3_015 });
  }
  const most = (await ask(anthropicMessages, said(Number.MAX_SAFE_INTEGER))).message.usage?.costMicros;
  expect(most).toBe(Number.MAX_SAFE_INTEGER);
});

test.each([
  ["a refusal", 500, "overloaded"],
  ["an answer", 200, "protocol"],
])("cuts off an endless %s", async (_what, status, code) => {
  const megabyte = Buffer.alloc(1024 * 1024, "x");
  let pieces = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    pieces++;
    controller.enqueue(megabyte);
  };
  const headers = { "content-type": "application/json" };
  const fetch = async () => new Response(new ReadableStream({ pull }), { status, headers });
  const stream = openaiChat.connect({ apiKey: "k", baseUrl: "http://wire/v1", fetch, now: () => 0 });
  const { error } = await readTurn(stream(testModel("openai-chat", "m"), context));
  expect(error).toMatchObject({ code });
  expect(pieces).toBeLessThan(100);
});
