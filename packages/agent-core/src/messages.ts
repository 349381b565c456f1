import type { Block, InputBlock } from "./content.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { ModelErrorData } from "./model-error.ts";
import type { Usage } from "./usage.ts";

/**
 * A message from a person, or from the host on their behalf. `timestamp` is in milliseconds since the epoch, here and
 * below.
 */
export interface UserMessage {
  readonly role: "user";
  readonly content: string | readonly InputBlock[];
  /**
   * Text that precedes the message in every request: the author, the time, the quoted message. Summaries omit it,
   * because it is not the person's own text.
   */
  readonly context?: string;
  /** Immutable id of the author, for the host. The model does not see it. */
  readonly senderId?: string;
  readonly timestamp: number;
}

/** The reason why a turn ended. Tools run only after `tool_use`. */
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
  /** `estimated` if the answer broke off before the vendor had reported all of its usage. */
  readonly usage?: Usage;
  /** Set if `stopReason` is `error`, `aborted` or `context_overflow`. */
  readonly error?: ModelErrorData;
  readonly responseId?: string;
  readonly timestamp: number;
}

/** The result of a tool call. Every call has exactly one. */
export interface ToolResultMessage {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName: string;
  /** Content for the model. */
  readonly content: readonly InputBlock[];
  /** Data for programs. Never sent to the model. */
  readonly details?: JsonValue;
  readonly isError: boolean;
  /** Execution time of the tool in milliseconds. Absent if the call did not run. Never sent to the model. */
  readonly durationMs?: number;
  readonly timestamp: number;
}

/** A shell command that the host ran outside a tool call. */
export interface ShellRunMessage {
  readonly role: "shellRun";
  readonly command: string;
  readonly output: string;
  /** `undefined` if a signal ended the command. */
  readonly exitCode: number | undefined;
  readonly timestamp: number;
}

/** Summary of another branch of the conversation. */
export interface BranchSummaryMessage {
  readonly role: "branchSummary";
  readonly summary: string;
  readonly timestamp: number;
}

/** Replaces the older, summarized part of a conversation. */
export interface CompactionSummaryMessage {
  readonly role: "compactionSummary";
  readonly summary: string;
  /** Number of replaced messages. */
  readonly replaced: number;
  readonly timestamp: number;
}

/** Any other message from a host. */
export interface CustomMessage {
  readonly role: "custom";
  /** A name chosen by the host, for instance `reminder`. */
  readonly kind: string;
  readonly content: string | readonly InputBlock[];
  readonly details?: JsonObject;
  readonly timestamp: number;
}

/** Messages that every model understands. */
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** All messages that a conversation may contain. `convertToLlm` converts them to `Message`. */
export type AgentMessage =
  | Message
  | ShellRunMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage
  | CustomMessage;
