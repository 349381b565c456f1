import type { Block, InputBlock } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ModelErrorData } from "./model-error.ts";
import type { Usage } from "./usage.ts";

/** What a person (or the host on their behalf) said. `timestamp` is milliseconds since the epoch, here and below. */
export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly InputBlock[];
  /**
   * Put before the message for as long as it is in the conversation: who wrote it, when, what it quotes. It is not the
   * person's own words, so summaries leave it out.
   */
  readonly context?: string;
  /** Immutable id of the person who wrote it, for the host. The model does not see it. */
  readonly senderId?: string;
  readonly timestamp: number;
}

/** Why a turn ended. Tools run only on `tool_use`. */
export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "refusal"
  | "filter"
  | "context_overflow"
  | "pause"
  | "aborted"
  | "error";

/** One complete model turn. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: readonly Block[];
  readonly api: string;
  readonly provider: string;
  readonly model: string;
  readonly stopReason: StopReason;
  /** The vendor's own stop reason. */
  readonly rawStopReason?: string;
  /** For an answer that broke off, `estimated` if its vendor had not counted all of it. */
  readonly usage?: Usage;
  /** Present when `stopReason` is `error`, `aborted` or `context_overflow`. */
  readonly error?: ModelErrorData;
  readonly responseId?: string;
  readonly timestamp: number;
}

/** The outcome of one tool call; every call has exactly one. */
export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  /** For the model. */
  readonly content: readonly InputBlock[];
  /** For programs; never sent to the model. */
  readonly details?: JsonValue;
  readonly isError: boolean;
  /** Milliseconds that the tool worked; absent for a call that was not carried out. Never sent to the model. */
  readonly durationMs?: number;
  readonly timestamp: number;
}

/** A shell command that the host ran outside a tool call. */
export interface ShellRunMessage {
  readonly role: "shellRun";
  readonly command: string;
  readonly output: string;
  /** `undefined` when the command was ended by a signal. */
  readonly exitCode: number | undefined;
  readonly timestamp: number;
}

/** What happened on another branch of the conversation, in short. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  readonly timestamp: number;
}

/** Replaces the older part of a conversation that was summarised. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  /** How many messages. */
  readonly replaced: number;
  readonly timestamp: number;
}

/** Anything else a host wants in the conversation. */
export interface CustomMessage {
  readonly role: "custom";
  /** A name the host chooses, for instance `reminder`. */
  readonly kind: string;
  readonly content: string | readonly InputBlock[];
  readonly details?: JsonObject;
  readonly timestamp: number;
}

/** The roles every model understands. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** Everything a conversation may hold. `convertToLlm` turns it into `Message[]`. */
export type AgentMessage =
  | Message
  | ShellRunMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage
  | CustomMessage;
