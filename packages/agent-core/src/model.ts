import type { Block, BlockHead } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { AssistantMessage, Message } from "./messages.ts";
import type { AttemptFailure, ModelErrorData } from "./model-error.ts";
import type { Usage } from "./usage.ts";

/** Which model was asked, and at which provider. */
export interface RequestInfo {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  /** The vendor's request id, once known. */
  readonly requestId?: string;
}

/** Something the caller should know that did not stop the request. */
export interface Warning {
  readonly code: string;
  readonly message: string;
}

/**
 * One event of a model turn. Exactly one of `finish` and `error` ends the stream. Events are immutable and never
 * reused; a delta costs O(1).
 */
export type ModelEvent =
  | { readonly type: "start"; readonly request: RequestInfo; readonly warnings: readonly Warning[] }
  | { readonly type: "block.start"; readonly index: number; readonly block: BlockHead }
  | { readonly type: "text.delta"; readonly index: number; readonly delta: string }
  | { readonly type: "thinking.delta"; readonly index: number; readonly delta: string }
  /** Raw JSON text of the arguments. */
  | { readonly type: "tool.delta"; readonly index: number; readonly delta: string }
  | { readonly type: "block.end"; readonly index: number; readonly block: Block }
  | { readonly type: "usage"; readonly usage: Usage }
  /**
   * An attempt failed and another follows. With `discard`, everything since the last `start` is void: it was only a
   * tool call, or text that no one had seen (`StreamOptions.shown`). The next `start` begins the turn again.
   */
  | {
      readonly type: "attempt";
      readonly failure: AttemptFailure;
      readonly next: NextAttempt;
      readonly discard?: true;
    }
  | { readonly type: "finish"; readonly message: AssistantMessage }
  | { readonly type: "error"; readonly error: ModelErrorData; readonly partial: AssistantMessage };

/** What follows a failed attempt. */
export interface NextAttempt {
  readonly kind: "retry" | "key" | "model";
  readonly provider: string;
  readonly model: string;
  readonly delayMs: number;
}

export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "max";

export type Modality = "text" | "image" | "audio" | "file";

/**
 * Prices in micro-units of a US dollar per million tokens; `checked` is the date (YYYY-MM-DD) they were read, at the
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

/** A model is data; the provider is behaviour. */
export interface Model {
  /** The id the vendor knows, for instance `claude-sonnet-4-6`. */
  readonly id: string;
  /** The provider's name in the configuration, for instance `anthropic`. */
  readonly provider: string;
  /** The wire format, for instance `anthropic-messages`. */
  readonly api: string;
  readonly name?: string;
  /** Tokens. */
  readonly contextWindow: number;
  /** Tokens. */
  readonly maxOutputTokens: number;
  readonly input: readonly Modality[];
  /** Levels the model accepts, lowest first; empty where it cannot think. */
  readonly thinking: readonly ThinkingLevel[];
  /** `text` for models without native tool calls. */
  readonly tools: "native" | "text" | "none";
  readonly prices?: ModelPrices;
  /** Wire quirks of this model or server, as data the adapter reads. */
  readonly quirks?: JsonObject;
}

/**
 * The system prompt in two parts: `stable` is byte-identical from turn to turn and may be cached by the vendor,
 * `volatile` follows the cache boundary.
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
  /** JSON Schema (draft 2020-12) of the arguments, `type: "object"` at the top. */
  readonly inputSchema: JsonObject;
}

export interface ModelContext {
  readonly system: SystemPrompt;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
}

/** Asks for an answer that is one JSON value and nothing else. The prompt must say so as well. */
export interface JsonOutput {
  /** 1 to 64 letters, digits, `_` and `-`; default `answer`. */
  readonly name?: string;
  /** JSON Schema of the value; any JSON object where absent. */
  readonly schema?: JsonObject;
  /** Has the vendor enforce the schema, which some do for a part of JSON Schema only and refuse the rest. */
  readonly strict?: boolean;
}

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Tokens, thinking included. Default: 8,192 plus room to think; at most the model's `maxOutputTokens`. */
  readonly maxOutputTokens?: number;
  /** Default `off`. A level the model does not know is clamped to the nearest lower one. */
  readonly thinking?: ThinkingLevel;
  readonly temperature?: number;
  /** Nucleus sampling: the share of likely tokens to choose from, up to 1. */
  readonly topP?: number;
  /** Asks for the same answer to the same request again, as far as the vendor can. An integer. */
  readonly seed?: number;
  readonly json?: JsonOutput;
  readonly stopSequences?: readonly string[];
  readonly toolChoice?: "auto" | "none" | "required" | { readonly name: string };
  /** Prompt caching: `short` (default) is the vendor's standard lifetime, `long` its longest. */
  readonly cache?: "none" | "short" | "long";
  /** Keeps a conversation on one cache where the vendor supports it. */
  readonly sessionId?: string;
  /**
   * Milliseconds of silence on the wire, keep-alives counted as life, after which the request fails with `timeout`;
   * default 55,000. What an account states itself goes first. With retries and fallbacks: of all attempts together.
   */
  readonly silenceMs?: number;
  /**
   * Whether a person has seen any of what this request has delivered so far. Asked when it fails in the middle: where
   * the answer is `false` it may be made again, and what was delivered is void (`attempt` with `discard`) and must no
   * longer be shown. What was delivered counts as seen where this is absent or throws.
   */
  readonly shown?: () => boolean;
  /** Extra JSON for the vendor's request body; the adapter merges it last. */
  readonly extra?: Readonly<Record<string, JsonValue>>;
}

/**
 * Asks a model for one turn. It never throws and never rejects for what the vendor did: the stream ends in `finish`
 * or `error`. It is pulled: nothing is read ahead of the consumer beyond the socket's buffers, and `return()` closes
 * the socket.
 */
export type StreamModel = (
  model: Model,
  context: ModelContext,
  options?: StreamOptions,
) => AsyncIterable<ModelEvent>;
