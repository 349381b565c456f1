import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AgentEvent, AssistantMessage, RunResult } from "@signalbox/agent-core";
import type { GenAiMetrics } from "./gen-ai-metrics.ts";

/** A run of an agent that is traced. */
export interface TracedRun {
  readonly runId: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly channel: string;
  /** Provider and model that the agent requests. */
  readonly provider: string;
  readonly model: string;
}

type AttemptFailure = Extract<AgentEvent, { type: "attempt" }>["failure"];

interface SpanParts {
  readonly tracer: Tracer;
  readonly metrics: GenAiMetrics;
  /** True adds texts to the spans. */
  readonly content: boolean;
  readonly redact: (text: string) => string;
}

/** Names of providers in the conventions. Other providers keep the name in the configuration. */
const PROVIDERS: Readonly<Record<string, string>> = {
  google: "gcp.gemini",
  mistral: "mistral_ai",
  xai: "x_ai",
};

/** Returns a listener that creates the spans of a run: one for the run, one for each model turn and each tool. */
export function watchRunSpans(run: TracedRun, parts: SpanParts): (event: AgentEvent) => void {
  const spans = new RunSpans(run, parts);
  return (event) => spans.see(event);
}

class RunSpans {
  readonly #run: TracedRun;
  readonly #parts: SpanParts;
  readonly #model: Attributes;
  readonly #root: Span;
  readonly #tools = new Map<string, Span>();
  #turn: { readonly span: Span; readonly startedAt: number } | undefined;

  constructor(run: TracedRun, parts: SpanParts) {
    this.#run = run;
    this.#parts = parts;
    this.#model = {
      "gen_ai.provider.name": PROVIDERS[run.provider] ?? run.provider,
      "gen_ai.request.model": run.model,
    };
    this.#root = parts.tracer.startSpan(
      `invoke_agent ${run.agentId}`,
      {
        kind: SpanKind.INTERNAL,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.id": run.agentId,
          ...this.#model,
          "signalbox.run.id": run.runId,
          "signalbox.channel": run.channel,
          // The key contains the id of a person or a chat.
          ...(parts.content ? { "gen_ai.conversation.id": run.sessionKey } : {}),
        },
      },
      ROOT_CONTEXT,
    );
  }

  see(event: AgentEvent): void {
    switch (event.type) {
      case "turn.start":
      // The summary was a separate request.
      case "compaction.end":
        this.#startTurn();
        break;
      case "attempt":
        this.#noteAttempt(event.failure);
        break;
      case "message":
        if (event.origin === "model" && event.message.role === "assistant") this.#endTurn(event.message);
        break;
      case "turn.end":
        // A turn that fails without output has no message event.
        this.#endTurn(event.message);
        break;
      case "tool.start":
        this.#startTool(event);
        break;
      case "tool.end":
        this.#endTool(event);
        break;
      case "run.end":
        this.#end(event.result);
        break;
    }
  }

  /** Adds a failed attempt to the span of the turn, which includes its retries. */
  #noteAttempt({ code, provider, model }: AttemptFailure): void {
    this.#turn?.span.addEvent("signalbox.attempt_failed", {
      "error.type": code,
      "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
      "gen_ai.request.model": model,
    });
  }

  #startTurn(): void {
    this.#turn?.span.end();
    const span = this.#startChild(`chat ${this.#run.model}`, SpanKind.CLIENT, {
      "gen_ai.operation.name": "chat",
      ...this.#model,
    });
    this.#turn = { span, startedAt: performance.now() };
  }

  #endTurn(message: AssistantMessage): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const { span, startedAt } = turn;
    const { metrics } = this.#parts;
    const input = message.usage?.input.total;
    const output = message.usage?.output.total;
    const cached = message.usage?.input.cacheRead;
    span.setAttributes({
      "gen_ai.response.model": message.model,
      "gen_ai.response.finish_reasons": [message.stopReason],
      "gen_ai.response.id": message.responseId,
      "gen_ai.usage.input_tokens": input,
      "gen_ai.usage.output_tokens": output,
      "gen_ai.usage.cache_read.input_tokens": cached,
      ...this.#contentOf(message),
    });
    const code = message.error?.code;
    if (code !== undefined) fail(span, code);
    span.end();
    const attributes = {
      "gen_ai.operation.name": "chat",
      ...this.#model,
      "gen_ai.response.model": message.model,
    };
    metrics.operationEnded(performance.now() - startedAt, {
      ...attributes,
      ...(code === undefined ? {} : { "error.type": code }),
    });
    if (input !== undefined) metrics.tokensUsed("input", input, attributes);
    if (output !== undefined) metrics.tokensUsed("output", output, attributes);
  }

  /** Only tools that exist are started. Models invent names, which could contain anything. */
  #startTool({ call, args }: Extract<AgentEvent, { type: "tool.start" }>): void {
    const span = this.#startChild(`execute_tool ${call.name}`, SpanKind.INTERNAL, {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": call.name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": call.id,
      ...this.#text("gen_ai.tool.call.arguments", () => JSON.stringify(args)),
    });
    this.#tools.set(call.id, span);
  }

  #endTool({ call, outcome, result }: Extract<AgentEvent, { type: "tool.end" }>): void {
    const span = this.#tools.get(call.id);
    if (span === undefined) return;
    this.#tools.delete(call.id);
    span.setAttributes(this.#text("gen_ai.tool.call.result", () => JSON.stringify(result.content)));
    if (outcome !== "ok") fail(span, outcome);
    span.end();
  }

  #end({ reason, error, used: { usage } }: RunResult): void {
    for (const span of this.#tools.values()) span.end();
    this.#turn?.span.end();
    const { input, output } = usage;
    this.#root.setAttributes({
      "gen_ai.response.finish_reasons": [reason],
      "gen_ai.usage.input_tokens": input.total,
      "gen_ai.usage.output_tokens": output.total,
    });
    if (error !== undefined) fail(this.#root, error.code);
    this.#root.end();
  }

  #startChild(name: string, kind: SpanKind, attributes: Attributes): Span {
    const parent = trace.setSpan(ROOT_CONTEXT, this.#root);
    return this.#parts.tracer.startSpan(name, { kind, attributes }, parent);
  }

  #contentOf({ content, stopReason }: AssistantMessage): Attributes {
    return this.#text("gen_ai.output.messages", () => {
      const parts = content.flatMap((block) =>
        block.type === "text" ? [{ type: "text", content: block.text }] : [],
      );
      return JSON.stringify([{ role: "assistant", parts, finish_reason: stopReason }]);
    });
  }

  #text(name: string, read: () => string | undefined): Attributes {
    const text = this.#parts.content ? read() : undefined;
    return text === undefined ? {} : { [name]: this.#parts.redact(text) };
  }
}

/** Marks a span as failed. The message of the error may quote people, so only its code is exported. */
function fail(span: Span, code: string): void {
  span.setAttribute("error.type", code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
