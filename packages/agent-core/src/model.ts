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
 * Prices in millionths of a US dollar per million tokens. `checked` is the date (YYYY-MM-DD) when they were read at the
 * address `source`.
 */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly checked: string;
  readonly source?: string;
}

/** A model. It is plain data; providers implement the behavior. */
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
 * A system prompt in two parts. `stable` is byte-identical from turn to turn, so that vendors can cache it; `volatile`
 * follows the cache boundary.
 */
export interface SystemPrompt {
  readonly stable: string;
  readonly volatile?: string;
}

/** A system prompt. A text is short for a prompt that is stable as a whole. */
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
  /** Lets the vendor enforce the schema. Some vendors support only a part of JSON Schema and reject the rest. */
  readonly strict?: boolean;
}

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** In tokens, including thinking. Default: 8,192 plus room for thinking; at most the model's `maxOutputTokens`. */
  readonly maxOutputTokens?: number;
  /** Default: `off`. An unsupported level is lowered to the next supported one. */
  readonly thinking?: ThinkingLevel;
  readonly temperature?: number;
  /** Nucleus sampling: share of the most likely tokens to choose from, up to 1. */
  readonly topP?: number;
  /** An integer. Requests reproducible answers, as far as the vendor supports it. */
  readonly seed?: number;
  readonly json?: JsonOutput;
  readonly stopSequences?: readonly string[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** Lifetime of the prompt cache: `short` (default) is the vendor's standard, `long` its longest. */
  readonly cache?: "none" | "short" | "long";
  /** Keeps a conversation on one cache, if the vendor supports it. */
  readonly sessionId?: string;
  /**
   * Milliseconds of silence on the wire, without keep-alives, after which the request fails with `timeout`. Default:
   * 55,000. Settings of an account take precedence. Applies to all attempts together.
   */
  readonly silenceMs?: number;
  /**
   * Returns true if a person has seen any of the streamed answer. Called when the request fails midway: if it returns
   * `false`, the request may be repeated, and the streamed part is void (`attempt` with `discard`). Without it, or if
   * it throws, the answer counts as seen.
   */
  readonly shown?: () => boolean;
  /** Extra JSON for the vendor's request body; merged last. */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/**
 * Requests one turn from a model. Never throws because of the vendor: the stream ends with `finish` or `error`. It
 * reads nothing ahead of its consumer except socket buffers, and `return()` closes the socket.
 */
export type StreamModel = (
  model: Model,
  context: ModelContext,
  options?: StreamOptions,
) => AsyncIterable<ModelEvent>;
