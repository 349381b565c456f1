import type { StreamModel } from "@signalbox/agent-core";
import { describe, it } from "vitest";
import {
  classify,
  createProviders,
  FailureError,
  failure,
  modelTurn,
  type Provider,
  type ProviderConfig,
  responseBytes,
  type TurnWriter,
} from "../src/index.ts";
import { providerSuite } from "../src/testkit/index.ts";
import { testModel } from "./support/fixtures.ts";

/**
 * A provider as a third party would write it: one JSON value per line, without an SDK, and with public exports only.
 */
const echo: Provider = {
  api: "echo-lines",
  connect(config: ProviderConfig): StreamModel {
    return (model, context, options) =>
      modelTurn({ model, options, timeouts: config.timeouts, now: config.now }, async function* (turn) {
        const send = config.fetch ?? fetch;
        const body = JSON.stringify({ model: model.id, messages: context.messages.length });
        const response = await send("https://echo.test/v1", { method: "POST", body, signal: turn.signal });
        if (!response.ok) {
          throw new FailureError(classify({ message: await response.text(), status: response.status }));
        }
        turn.start(response.headers.get("x-request-id"));
        yield;
        const lines = new LineReader(turn);
        for await (const bytes of responseBytes(response, turn.signal)) {
          lines.push(bytes);
          yield;
        }
      });
  },
};

class LineReader {
  readonly #turn: TurnWriter;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #text: number | undefined;
  readonly #calls = new Map<string, number>();

  constructor(turn: TurnWriter) {
    this.#turn = turn;
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) this.#line(JSON.parse(line));
  }

  #line(line: {
    say?: string;
    call?: string;
    name?: string;
    args?: string;
    fail?: string;
    end?: "done" | "tools";
  }): void {
    if (line.say !== undefined) {
      this.#text ??= this.#turn.open({ type: "text" });
      this.#turn.append(this.#text, line.say);
    }
    if (line.call !== undefined) {
      const index =
        this.#calls.get(line.call) ??
        this.#turn.open({ type: "toolCall", id: line.call, name: line.name ?? "" });
      this.#calls.set(line.call, index);
      this.#turn.append(index, line.args ?? "");
    }
    if (line.fail !== undefined) this.#turn.fail(failure("overloaded", line.fail));
    if (line.end !== undefined) this.#turn.finish(line.end === "tools" ? "tool_use" : "end_turn", line.end);
  }
}

const lines = (...values: readonly object[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n\n`).join("");
const provider = createProviders([echo]).get("echo-lines");
if (provider === undefined) throw new Error("the provider was lost");

providerSuite(
  { describe, it },
  {
    provider,
    model: testModel("echo-lines", "echo-1"),
    recordings: [
      { name: "text", body: lines({}, { say: "Héllo" }, { say: " 🎉" }, { end: "done" }) },
      {
        name: "calls",
        body: lines(
          {},
          { say: "Reading." },
          { call: "1", name: "read", args: '{"path":' },
          { call: "2", name: "now" },
          { call: "1", args: '"a"}' },
          { end: "tools" },
        ),
      },
    ],
    keepAlive: "\n\n",
    errorEvent: lines({ fail: "Too busy." }),
    empty: lines({ end: "done" }),
    refusals: [
      { name: "a wrong key", status: 401, body: "who are you", code: "auth" },
      { name: "too busy", status: 503, body: "later", code: "overloaded" },
    ],
  },
);
