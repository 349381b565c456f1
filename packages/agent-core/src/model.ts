import type { Block, BlockHead } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { AssistantMessage, Message } from "./messages.ts";
import type { AttemptFailure, ModelErrorData } from "./model-error.ts";
import type { Usage } from "./usage.ts";

/** The model and provider of a request. */
export interface RequestInfo {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  /** The vendor's request id, once known. */
  readonly requestId?: string;
}

/** A problem that did not stop the request. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/** An event of a model turn. Exactly one `finish` or `error` ends the stream. Events are immutable and never reused. */
export type ModelEvent =
  | { readonly type: "start"; readonly request: RequestInfo; readonly warnings: readonly Warning[] }
  | { readonly type: "block.start"; readonly index: number; readonly block: BlockHead }
  | { readonly type: "text.delta"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking.delta"; readonly index: number; readonly delta: string }
  /** JSON text of the arguments. */
  | { readonly type: "tool.delta"; readonly index: number; readonly delta: string }
  | { readonly type: "block.end"; readonly index: number; readonly block: Block }
  | { readonly type: "usage"; readonly usage: Usage }
  /**
   * An attempt failed and another one follows. With `discard`, everything since the last `start` is void, because it
   * was only a tool call or no person had seen its text (`StreamOptions.shown`). The next `start` begins the turn
   * again.
   */
  | {
      readonly type: "attempt";
      readonly failure: AttemptFailure;
      readonly next: NextAttempt;
      readonly discard?: true;
    }
  | { readonly type: "finish"; readonly message: AssistantMessage }
  | { readonly type: "error"; readonly error: ModelErrorData; readonly partial: AssistantMessage };

/** The next attempt after a failed one. */
export interface NextAttempt {
  readonly kind: "retry" | "key" | "model";
  readonly provider: string;
  readonly model: string;
  readonly delayMs: number;
}

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "max";

export type Modality = "text" | "image" | "audio" | "file";

/**
 * Prices in millionths of a US dollar per million tokens. `checked` is the date (YYYY-MM-DD) on which they were read
 * from the URL `source`.
 */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly checked: string;
  readonly source?: string;
}

/** A model as plain data. Providers implement the behavior. */
export interface Model {
  /** The vendor's id, for instance `claude-sonnet-4-6`. */
  readonly id: string;
  /** Name of the provider in the configuration, for instance `anthropic`. */
  readonly provider: string;
  /** The wire format, for instance `anthropic-messages`. */
  readonly api: string;
  readonly name?: string;
  /** In tokens. */
  readonly contextWindow: number;
  /** In tokens. */
  readonly maxOutputTokens: number;
  readonly input: readonly Modality[];
  /** Supported levels, lowest first; empty if the model cannot think. */
  readonly thinking: readonly ThinkingLevel[];
  /** `text` for models without native tool calls. */
  readonly tools: "native" | "text" | "none";
  readonly prices?: ModelPrices;
  /** Wire quirks of this model or server, as data for the adapter. */
  readonly quirks?: JsonObject;
}

/**
 * A system prompt in two parts. `stable` is byte-identical in every turn, so vendors can cache it. `volatile` follows
 * the cache boundary.
 */
export interface SystemPrompt {
  readonly stable: string;
  readonly volatile?: string;
}

/** A system prompt. A string is shorthand for a prompt that is entirely stable. */
export type SystemInput = string | SystemPrompt;

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (draft 2020-12) of the arguments, with `type: "object"` at the top. */
  readonly inputSchema: JsonObject;
}

export interface ModelContext {
  readonly system: SystemPrompt;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
}

/** Requests an answer that consists of one JSON value. The prompt must ask for it as well. */
export interface JsonOutput {
  /** 1 to 64 letters, digits, `_` and `-`. Default: `answer`. */
  readonly name?: string;
  /** JSON Schema of the value. Default: any JSON object. */
  readonly schema?: JsonObject;
  /** Lets the vendor enforce the schema. Some vendors support only a subset of JSON Schema and reject the rest. */
  readonly strict?: boolean;
}

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /**
   * Maximum number of output tokens, including thinking. Default: 8,192 plus room for thinking, up to the model's
   * `maxOutputTokens`.
   */
  readonly maxOutputTokens?: number;
  /** Default: `off`. An unsupported level is lowered to the next supported one. */
  readonly thinking?: ThinkingLevel;
  readonly temperature?: number;
  /** Nucleus sampling: cumulative probability of the tokens to sample from, up to 1. */
  readonly topP?: number;
  /** An integer that requests reproducible answers, as far as the vendor supports it. */
  readonly seed?: number;
  readonly json?: JsonOutput;
  readonly stopSequences?: readonly string[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** Lifetime of the prompt cache: `short` (default) is the vendor's standard, `long` its longest. */
  readonly cache?: "none" | "short" | "long";
  /** Pins a conversation to one cache, if the vendor supports it. */
  readonly sessionId?: string;
  /**
   * Milliseconds of silence on the wire, not counting keep-alives, after which the request fails with `timeout`.
   * Default: 55,000. Account settings take precedence. Applies to all attempts together.
   */
  readonly silenceMs?: number;
  /**
   * Returns true if a person has seen any of the streamed answer. Called if the request fails midway. If it returns
   * `false`, the request may be retried, and the streamed part is discarded (`attempt` with `discard`). If it is
   * missing or throws, the answer counts as seen.
   */
  readonly shown?: () => boolean;
  /** Extra JSON for the vendor's request body, merged last. */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/**
 * Requests one turn from a model. Failures of the vendor never throw: the stream ends with `finish` or `error`. It does
 * not read ahead of its consumer except for socket buffers, and `return()` closes the socket.
 */
export type StreamModel = (
  model: Model,
  context: ModelContext,
  options?: StreamOptions,
) => AsyncIterable<ModelEvent>;
