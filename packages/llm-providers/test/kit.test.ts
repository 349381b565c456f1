import type { ModelEvent, StreamModel } from "@signalbox/agent-core";
import { expect, test } from "vitest";
import {
  classify,
  FailureError,
  failure,
  modelTurn,
  type Provider,
  type ProviderConfig,
  responseBytes,
  type TurnWriter,
} from "../src/index.ts";
import { type ProviderSubject, providerSuite } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

/** One mistake of a provider. */
type Fault =
  | "finishes when the connection ends"
  | "finishes when the server is silent"
  | "finishes when the connection breaks"
  | "runs incomplete calls"
  | "never finishes"
  | "drops everything after the first text"
  | "takes a piece of the body for a line"
  | "takes keep-alives for text"
  | "takes garbage for text"
  | "repeats a repeated start"
  | "ignores errors in mid-stream"
  | "sends the request before it is read"
  | "sends the request although it was aborted"
  | "leaves connections open"
  | "ignores an abort"
  | "handles an abort late"
  | "throws if the server is unreachable"
  | "misreads refusals"
  | "opens a block without content"
  | "ends twice";

interface Line {
  readonly begin?: string;
  readonly say?: string;
  readonly call?: string;
  readonly name?: string;
  readonly args?: string;
  readonly fail?: string;
  readonly end?: "done" | "tools";
}

/** Reads one JSON value per line. */
class LineReader {
  readonly #turn: TurnWriter;
  readonly #fault: Fault | undefined;
  readonly #decoder = new TextDecoder();
  readonly calls = new Map<string, number>();
  #rest = "";
  #text: number | undefined;
  #begun = 0;

  constructor(turn: TurnWriter, fault: Fault | undefined) {
    this.#turn = turn;
    this.#fault = fault;
  }

  push(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    if (this.#fault === "takes a piece of the body for a line") {
      for (const line of text.split("\n")) this.#take(line);
      return;
    }
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#take(line);
  }

  #take(line: string): void {
    if (line === "~" && this.#fault === "takes keep-alives for text") this.#say(line);
    if (line.startsWith("data:") && this.#fault === "takes garbage for text") this.#say(line);
    if (!line.startsWith("{")) return;
    let value: Line;
    try {
      value = JSON.parse(line);
    } catch (error) {
      throw new FailureError(failure("protocol", String(error)));
    }
    this.#line(value);
  }

  #say(text: string): void {
    this.#text ??= this.#turn.open({ type: "text" });
    this.#turn.append(this.#text, text);
  }

  #line(line: Line): void {
    if (line.begin !== undefined && this.#begun++ > 0 && this.#fault === "repeats a repeated start")
      this.#say("Hello again.");
    const late = this.#fault === "drops everything after the first text" && this.#text !== undefined;
    if (line.say !== undefined && !late) this.#say(line.say);
    if (line.call !== undefined && !late) {
      const known = this.calls.get(line.call);
      const index = known ?? this.#turn.open({ type: "toolCall", id: line.call, name: line.name ?? "" });
      this.calls.set(line.call, index);
      this.#turn.append(index, line.args ?? "");
    }
    if (line.fail !== undefined && this.#fault !== "ignores errors in mid-stream")
      this.#turn.fail(failure("overloaded", line.fail));
    if (line.end !== undefined && this.#fault !== "never finishes") {
      if (this.#fault === "opens a block without content") this.#say("!");
      this.#turn.finish(line.end === "tools" && this.calls.size > 0 ? "tool_use" : "end_turn", line.end);
    }
  }
}

function lineVendor(fault?: Fault): Provider {
  const connect = (config: ProviderConfig): StreamModel => {
    const send = config.fetch ?? fetch;
    const ask = (signal: AbortSignal): Promise<Response> =>
      send("https://lines.test/v1", { method: "POST", body: "{}", signal });
    return (model, _context, options) => {
      const early =
        fault === "sends the request before it is read"
          ? ask(new AbortController().signal).catch(() => {})
          : undefined;
      if (fault === "sends the request although it was aborted" && options?.signal?.aborted)
        void ask(new AbortController().signal);
      // A provider that takes silence for the end must not be stopped by the turn's timeout.
      const timeouts =
        fault === "finishes when the server is silent"
          ? { firstByteMs: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY }
          : config.timeouts;
      const turn = modelTurn({ model, options, timeouts, now: config.now }, async function* (writer) {
        await early;
        const leaky = fault === "leaves connections open";
        const signal = leaky ? new AbortController().signal : writer.signal;
        const response = await ask(signal);
        if (!response.ok) {
          const status = fault === "misreads refusals" ? 400 : response.status;
          throw new FailureError(classify({ message: await response.text(), status }));
        }
        writer.start(response.headers.get("x-request-id"));
        yield;
        const reader = new LineReader(writer, fault);
        const finish = (): void => writer.finish(reader.calls.size > 0 ? "tool_use" : "end_turn");
        const bytes = responseBytes(response, signal)[Symbol.asyncIterator]();
        const late = (): Promise<"late"> => new Promise((resolve) => setTimeout(resolve, 2, "late"));
        try {
          for (;;) {
            const next = bytes.next();
            const piece = await (fault === "finishes when the server is silent"
              ? Promise.race([next, late()])
              : next);
            if (piece === "late" || (piece.done && fault === "finishes when the connection ends"))
              return finish();
            if (piece.done) return;
            reader.push(piece.value);
            yield;
          }
        } catch (error) {
          if (fault === "finishes when the connection breaks" && !writer.signal.aborted) return finish();
          throw error;
        } finally {
          if (!leaky) void bytes.return?.(undefined);
        }
      });
      return distorted(turn, fault, options?.signal);
    };
  };
  return { api: "lines", connect };
}

/** Mistakes that are possible only without `modelTurn`. */
async function* distorted(
  turn: AsyncIterable<ModelEvent>,
  fault: Fault | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<ModelEvent, undefined> {
  for await (const event of turn) {
    if (event.type === "error") {
      const { error, partial } = event;
      if (fault === "ignores an abort" && signal?.aborted) await new Promise(() => {});
      if (fault === "handles an abort late" && signal?.aborted)
        for (let turns = 0; turns < 1_000; turns++) await new Promise(setImmediate);
      if (
        fault === "throws if the server is unreachable" &&
        error.code === "network" &&
        partial.content.length === 0
      )
        throw new Error(error.message);
      if (fault === "runs incomplete calls" && partial.content.some((block) => block.type === "toolCall")) {
        yield { type: "error", error, partial: { ...partial, stopReason: "tool_use" } };
        continue;
      }
    }
    yield event;
    if (event.type === "finish" && fault === "ends twice") yield event;
  }
  return undefined;
}

const lines = (...values: readonly Line[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n\n`).join("");

/** Faults for which a test waits in vain. */
const HANGING = new Set<Fault | undefined>(["ignores an abort", "leaves connections open"]);

const subject = (fault?: Fault): ProviderSubject => ({
  provider: lineVendor(fault),
  model: testModel("lines", "lines-1"),
  recordings: [
    { name: "text", body: lines({ begin: "1" }, { say: "Héllo" }, { say: " 🎉" }, { end: "done" }) },
    {
      name: "calls",
      body: lines(
        { begin: "1" },
        { say: "Deleting." },
        { call: "1", name: "rm", args: '{"path":' },
        { call: "1", args: '"a"}' },
        { call: "2", name: "now", args: "{}" },
        { end: "tools" },
      ),
      says: {
        text: "Deleting.",
        calls: [
          { name: "rm", args: { path: "a" } },
          { name: "now", args: {} },
        ],
      },
    },
  ],
  keepAlive: "~\n\n",
  // Only faults that hang wait this long.
  hungMs: HANGING.has(fault) ? 100 : 20_000,
  errorEvent: lines({ fail: "Too busy." }),
  empty: lines({ begin: "1" }, { end: "done" }),
  refusals: [{ name: "too busy", status: 503, body: "later", code: "overloaded" }],
});

/** Returns the tests that `fault` fails. */
async function failingTests(fault?: Fault): Promise<string[]> {
  const queue: { readonly name: string; readonly body: () => Promise<void> }[] = [];
  providerSuite(
    { describe: (_, body) => body(), it: (name, body) => queue.push({ name, body }) },
    subject(fault),
  );
  const failed = await Promise.all(
    queue.map(({ name, body }) =>
      body().then(
        () => [],
        () => [name],
      ),
    ),
  );
  return [...new Set(failed.flat())];
}

const WHOLE = "reads the complete stream";
const CUT = "ends once wherever the stream is cut, and runs no tools";
const STALL = "fails with a timeout wherever the stream stalls";

const faults: readonly (readonly [Fault, string])[] = [
  ["never finishes", WHOLE],
  ["ends twice", WHOLE],
  ["drops everything after the first text", WHOLE],
  ["takes a piece of the body for a line", "reads the same in single bytes"],
  ["finishes when the connection ends", CUT],
  ["finishes when the connection breaks", CUT],
  ["runs incomplete calls", CUT],
  ["finishes when the server is silent", STALL],
  ["leaves connections open", STALL],
  ["takes keep-alives for text", "ignores keep-alives"],
  ["takes garbage for text", "survives garbage between events"],
  ["repeats a repeated start", "survives a repeated first event"],
  ["ignores errors in mid-stream", "ends with an error that the vendor reports in mid-stream"],
  ["ignores an abort", "ends at once when aborted, and closes the connection"],
  ["handles an abort late", "ends at once when aborted, and closes the connection"],
  ["sends the request before it is read", "sends no request before it is read"],
  ["leaves connections open", "closes the connection when the consumer leaves"],
  ["sends the request although it was aborted", "sends no request if it was aborted before"],
  ["throws if the server is unreachable", "ends with a network failure if the server is unreachable"],
  ["opens a block without content", "finishes a response without content"],
  ["misreads refusals", "classifies a refusal: too busy"],
];

test("a correct provider passes", async () => {
  expect(await failingTests()).toEqual([]);
});

test.each(faults)("a provider that %s fails: %s", async (fault, name) => {
  expect(await failingTests(fault)).toContain(name);
});

test("each rule of the suite fails for some fault", () => {
  const names = new Set<string>();
  providerSuite({ describe: (_, body) => body(), it: (name) => names.add(name) }, subject());
  expect([...names].sort()).toEqual([...new Set(faults.map(([, name]) => name))].sort());
});
