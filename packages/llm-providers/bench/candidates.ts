import type { AssistantMessage, Message, Model, Tool } from "@signalbox/agent-core";
import { planOf, SYSTEM, TOOL, turnOf } from "./plan.ts";

/** What a candidate reports while it runs. */
interface Watch {
  onDelta(text: string): void;
  onTool(args: unknown): string;
}

/** One whole agent run: the prompt, its tool calls, the final text. */
export type Run = (prompt: string, watch: Watch) => Promise<string>;

interface WireBlock {
  readonly type: string;
  readonly id?: string;
  text?: string;
  input?: unknown;
}

interface WireEvent {
  readonly type: string;
  readonly index: number;
  readonly content_block: WireBlock;
  readonly delta: { readonly type: string; readonly text: string; readonly partial_json: string };
}

/** Puts one message together from the vendor's events. */
function accumulator(onDelta: Watch["onDelta"]) {
  const content: WireBlock[] = [];
  let json = "";
  return {
    content,
    event(event: WireEvent): void {
      const block = content[event.index];
      switch (event.type) {
        case "content_block_start":
          content[event.index] = event.content_block;
          json = "";
          break;
        case "content_block_delta":
          if (event.delta.type === "text_delta" && block !== undefined) {
            block.text += event.delta.text;
            onDelta(event.delta.text);
          } else if (event.delta.type === "input_json_delta") {
            json += event.delta.partial_json;
          }
          break;
        case "content_block_stop":
          if (block?.type === "tool_use") block.input = JSON.parse(json || "{}");
          break;
        default:
      }
    },
  };
}

async function wireLoop(
  prompt: string,
  watch: Watch,
  ask: (messages: readonly unknown[], event: (event: WireEvent) => void) => Promise<void>,
): Promise<string> {
  const messages: unknown[] = [{ role: "user", content: prompt }];
  for (;;) {
    const { content, event } = accumulator(watch.onDelta);
    await ask(messages, event);
    messages.push({ role: "assistant", content });
    const calls = content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return content.map((block) => block.text ?? "").join("");
    messages.push({
      role: "user",
      content: calls.map((call) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: watch.onTool(call.input),
      })),
    });
  }
}

const request = { model: "bench", max_tokens: 4_096, stream: true, system: SYSTEM } as const;
const wireTools = [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }];

/** Floor: the global fetch, a few lines that split the event stream, a hand-written loop. */
export async function bareFetch(url: string): Promise<Run> {
  const headers = { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01" };
  return (prompt, watch) =>
    wireLoop(prompt, watch, async (messages, event) => {
      const body = JSON.stringify({ ...request, tools: wireTools, messages });
      const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body });
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let rest = "";
      for (;;) {
        const piece = await reader?.read();
        if (piece === undefined || piece.done) return;
        const text = rest + decoder.decode(piece.value, { stream: true });
        let at = 0;
        for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
          if (text.startsWith("data: ", at)) event(JSON.parse(text.slice(at + 6, end)));
          at = end + 1;
        }
        rest = text.slice(at);
      }
    });
}

/** Floor: the vendor's SDK with its default transport and a hand-written loop. */
export async function rawSdk(url: string): Promise<Run> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 });
  return (prompt, watch) =>
    wireLoop(prompt, watch, async (messages, event) => {
      const stream = await client.messages.create({
        ...request,
        tools: wireTools.map((tool) => ({
          ...tool,
          input_schema: { ...tool.input_schema, required: ["value"] },
        })),
        messages: messages as never,
      });
      for await (const one of stream) event(one as never);
    });
}

const model: Model = {
  id: "bench",
  provider: "anthropic",
  api: "anthropic-messages",
  contextWindow: 200_000,
  maxOutputTokens: 4_096,
  input: ["text"],
  thinking: [],
  tools: "native",
};
const tool = { name: TOOL.name, description: TOOL.description, inputSchema: TOOL.schema };
const tools = [tool];

type Stream = import("@signalbox/agent-core").StreamModel;

async function ourLoop(stream: Stream, prompt: string, watch: Watch): Promise<string> {
  const messages: Message[] = [{ role: "user", content: prompt, timestamp: 0 }];
  for (;;) {
    let message: AssistantMessage | undefined;
    for await (const event of stream(model, { system: { stable: SYSTEM }, messages, tools })) {
      if (event.type === "text.delta") watch.onDelta(event.delta);
      else if (event.type === "finish") message = event.message;
      else if (event.type === "error") throw new Error(event.error.message);
    }
    if (message === undefined) throw new Error("no answer");
    messages.push(message);
    const calls = message.content.filter((block) => block.type === "toolCall");
    if (calls.length === 0)
      return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    for (const call of calls)
      messages.push({
        role: "toolResult",
        toolCallId: call.id,
        toolName: call.name,
        content: [{ type: "text", text: watch.onTool(call.args) }],
        isError: false,
        timestamp: 0,
      });
  }
}

const built = (file: string): string => new URL(`../dist/${file}`, import.meta.url).href;

/** This package's Anthropic provider, as it is published, and a hand-written loop. */
export async function ours(url: string): Promise<Run> {
  const { anthropicMessages }: typeof import("../src/anthropic/index.ts") = await import(
    built("anthropic/index.js")
  );
  const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: url });
  return (prompt, watch) => ourLoop(stream, prompt, watch);
}

/** The same under the runner, as a gateway uses it. */
export async function oursWithRunner(url: string): Promise<Run> {
  const { anthropicMessages }: typeof import("../src/anthropic/index.ts") = await import(
    built("anthropic/index.js")
  );
  const { createModelRunner, createProviders }: typeof import("../src/index.ts") = await import(
    built("index.js")
  );
  const runner = createModelRunner({
    providers: createProviders([anthropicMessages]),
    accounts: [{ name: "anthropic", api: "anthropic-messages", keys: ["k"], baseUrl: url }],
  });
  return (prompt, watch) => ourLoop(runner.stream, prompt, watch);
}

const echo = (watch: Watch, execution: "sequential" | "parallel"): Tool => ({
  ...tool,
  effects: "none",
  execution,
  async execute(call) {
    return { content: [{ type: "text", text: watch.onTool(call.args) }] };
  },
});

/** Both packages as they are published: as an application would, a new `Agent`, a listener, one prompt. */
export async function agent(url: string): Promise<Run> {
  const { Agent } = await import("@signalbox/agent-core");
  const { anthropicMessages }: typeof import("../src/anthropic/index.ts") = await import(
    built("anthropic/index.js")
  );
  const stream = anthropicMessages.connect({ apiKey: "k", baseUrl: url });
  return async (prompt, watch) => {
    const { kind, count } = planOf(prompt);
    const one = new Agent({
      model,
      stream,
      system: { stable: SYSTEM },
      tools: [echo(watch, kind === "parallel" ? "parallel" : "sequential")],
      limits: { turns: count + 1 },
    });
    one.subscribe((event) => {
      if (event.type === "text.delta") watch.onDelta(event.delta);
    });
    const { reason, error, text } = await one.prompt(prompt);
    if (reason !== "done") throw new Error(error?.message ?? reason);
    return text;
  };
}

/** Floor in process: an async generator of ready-made events. */
export async function bareGenerator(): Promise<Run> {
  async function* generate(prompt: string, answered: number): AsyncGenerator<WireEvent> {
    const turn = turnOf(planOf(prompt), answered);
    const event = (type: string, index: number, rest: object): WireEvent =>
      Object.assign({ type, index }, rest) as WireEvent;
    if (turn.text !== undefined) {
      yield event("content_block_start", 0, { content_block: { type: "text", text: "" } });
      const size = turn.text.length / (turn.chunks ?? 1);
      for (let at = 0; at < turn.text.length; at += size)
        yield event("content_block_delta", 0, {
          delta: { type: "text_delta", text: turn.text.slice(at, at + size) },
        });
      yield event("content_block_stop", 0, {});
    }
    for (const [index, call] of (turn.toolCalls ?? []).entries()) {
      yield event("content_block_start", index, {
        content_block: { type: "tool_use", id: call.id, name: call.name },
      });
      yield event("content_block_delta", index, {
        delta: { type: "input_json_delta", partial_json: JSON.stringify(call.input) },
      });
      yield event("content_block_stop", index, {});
    }
  }
  return (prompt, watch) =>
    wireLoop(prompt, watch, async (messages, event) => {
      for await (const one of generate(prompt, (messages.length - 1) / 2)) event(one);
    });
}

/** In process: the turn writer every provider uses, over the same ready-made turns. */
export async function turnWriter(): Promise<Run> {
  const { modelTurn }: typeof import("../src/index.ts") = await import(built("index.js"));
  return (prompt, watch) => {
    let answered = 0;
    const stream: Stream = (asked, _context, options) => {
      const turn = turnOf(planOf(prompt), answered++);
      return modelTurn({ model: asked, options }, async function* (writer) {
        writer.start();
        if (turn.text !== undefined) {
          const index = writer.open({ type: "text" });
          const size = turn.text.length / (turn.chunks ?? 1);
          for (let at = 0; at < turn.text.length; at += size)
            writer.append(index, turn.text.slice(at, at + size));
          writer.close(index);
        }
        for (const call of turn.toolCalls ?? []) {
          const index = writer.open({ type: "toolCall", id: call.id ?? "", name: call.name });
          writer.append(index, JSON.stringify(call.input));
          writer.close(index);
        }
        writer.finish(turn.toolCalls === undefined ? "end_turn" : "tool_use");
        yield;
      });
    };
    return ourLoop(stream, prompt, watch);
  };
}
