import type { JsonObject, StopReason, ThinkingLevel, ToolOutcome, Usage } from "@signalbox/agent-core";
import { dropUndefined, type MessageEvent, type Outbound } from "@signalbox/channel";
import type { ContextDocument, ExtraSection } from "@signalbox/prompt";
import type { RunOutcome } from "@signalbox/protocol";
import type { TurnUsage } from "@signalbox/server";
import { z } from "zod";
import type { Hooks } from "./hooks.ts";
import type { Blocking, Hook, Modified, Observed, PointDefinitions } from "./point-types.ts";

/** Fields that identify the session of an event. */
interface Place {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** A message was committed to the inbox. */
export interface MessageReceived extends Place {
  /** The gateway's id of the message. */
  readonly messageId: string;
  readonly event: MessageEvent;
  /** `answer` passes the message to the agent. With any other decision, the message ends here. */
  readonly decision: "answer" | "pair" | "keep" | "ignore";
  /** Rule that led to the decision. */
  readonly rule: string;
}

/** Called before the model of a run is chosen. */
export interface BeforeModelResolve extends Place {
  /** The last message of the batch. */
  readonly event: MessageEvent;
  /**
   * Model as `provider/model` that a directive or the session requests. If absent, the agent's own model is used.
   * Unusable models are skipped.
   */
  readonly model: string | undefined;
  readonly thinking: ThinkingLevel;
}

/** Called after attachments were read and before the system prompt is built. */
export interface BeforePromptBuild extends Place {
  readonly event: MessageEvent;
  /** Pages that the message links to. Their text is untrusted. */
  readonly pages: readonly ContextDocument[];
  /** Files attached to the message, including files that the model receives as images. */
  readonly files: readonly ContextDocument[];
  /** Model of the run, as `provider/model`. */
  readonly model: string;
  /** Instructions that an API client sent with the request. */
  readonly instructions: string | undefined;
  /**
   * Sections to add to the built-in ones. Names are unique. If `stable` sections change between turns, they break
   * prompt caches.
   */
  readonly extra: readonly ExtraSection[];
}

/** Called after a tool call's arguments were validated and before the policy decides about the call. */
export interface BeforeToolCall extends Place {
  readonly tool: string;
  readonly callId: string;
  /** Validated arguments. Changes by a hook are validated again. */
  readonly args: unknown;
}

/** Fields of events inside a run. */
export interface InRun extends Place {
  readonly runId: string;
}

/** Called when a run starts or resumes. */
export interface RunStarted extends InRun {
  /** First model of the run, as `provider/model`. */
  readonly model: string;
  /** Platform ids of the run's messages. */
  readonly messageIds: readonly string[];
  /** True if an earlier process started the run. */
  readonly goesOn: boolean;
}

/** Called before the model request of a turn. */
interface TurnStarted extends InRun {
  readonly model: string;
  /** Number of the turn, starting at 1. */
  readonly turn: number;
}

/** Called after the model has answered and its tool calls have their results. */
interface TurnEnded extends TurnStarted {
  readonly stopReason: StopReason;
  readonly text: string;
  /** Names of the called tools. */
  readonly tools: readonly string[];
  readonly usage: Usage | undefined;
}

/** Called before a summary replaces the older part of a conversation. */
interface CompactionStarted extends InRun {
  /** `manual`: requested with /compact. */
  readonly reason: "threshold" | "overflow" | "manual";
  /** Estimated tokens of the conversation. */
  readonly tokens: number;
}

/** Called after a summary has replaced the older part of a conversation. */
interface CompactionEnded extends InRun {
  /** `metadata` if the model returned no summary in time. */
  readonly source: "model" | "metadata";
  /** Estimated tokens of the conversation after the compaction. */
  readonly tokens: number;
}

/** Called after a tool call has its result. */
export interface AfterToolCall extends InRun {
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
  readonly outcome: ToolOutcome;
  /** Text of the prompt. */
  readonly text: string;
  readonly durationMs: number;
}

/** Called before a reply is committed. */
export interface BeforeReply extends Place {
  /** The message being answered. */
  readonly event: MessageEvent;
  /** `turn` for an answer of the agent, `command` for the answer to a slash command. */
  readonly source: "turn" | "command";
  /**
   * The reply text. An empty string drops the reply and its attachments. Text that was already streamed to viewers
   * stays visible.
   */
  readonly text: string;
}

/** Called after a platform accepted a reply or the reply was shown to a client of the gateway. */
export interface MessageSent {
  readonly channel: string;
  readonly account: string;
  /** Encoded address of the channel. */
  readonly address: string;
  readonly sessionKey: string | undefined;
  readonly runId: string | undefined;
  readonly message: Outbound;
}

/** Usage of one model in a run. */
export interface ModelTurnUsage extends TurnUsage {
  /** For instance `anthropic/claude-opus-4-5`. */
  readonly model: string;
}

/** Called after the end of a run was committed. */
export interface RunEnded extends InRun {
  /** Platform ids of the run's messages. */
  readonly messageIds: readonly string[];
  readonly outcome: RunOutcome;
  readonly usage: TurnUsage | undefined;
  /** The parts of `usage` by model. The model that was called last is the last entry. */
  readonly models: readonly ModelTurnUsage[];
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/**
 * All hook points, in the order in which a message passes them. Hooks receive a frozen copy of the payload, and only
 * their return values have an effect.
 */
export interface HookPoints {
  readonly message_received: Observed<MessageReceived>;
  readonly before_model_resolve: Modified<BeforeModelResolve, "model" | "thinking">;
  readonly before_prompt_build: Modified<BeforePromptBuild, "extra">;
  readonly run_start: Observed<RunStarted>;
  readonly turn_start: Observed<TurnStarted>;
  readonly before_tool_call: Blocking<BeforeToolCall, "args">;
  readonly after_tool_call: Observed<AfterToolCall>;
  readonly turn_end: Observed<TurnEnded>;
  readonly compaction_start: Observed<CompactionStarted>;
  readonly compaction_end: Observed<CompactionEnded>;
  readonly before_reply: Modified<BeforeReply, "text">;
  readonly message_sent: Observed<MessageSent>;
  readonly run_end: Observed<RunEnded>;
}

export type HookPoint = keyof HookPoints;

/** A hook at one point. */
export type GatewayHook = Hook<HookPoints>;

/** The gateway's registry of hooks. */
export type GatewayHooks = Hooks<HookPoints>;

/** Schema of tool arguments. */
export const TOOL_ARGUMENTS: z.ZodType<JsonObject> = z.preprocess(
  dropUndefined,
  z.record(z.string(), z.json()),
);

const THINKING = ["off", "minimal", "low", "medium", "high", "max"] as const;

const SECTIONS = z
  .array(
    z.object({
      name: z.string().min(1),
      title: z.string(),
      text: z.string(),
      part: z.enum(["stable", "volatile"]),
    }),
  )
  .refine((sections) => new Set(sections.map(({ name }) => name)).size === sections.length, {
    error: "two sections have the same name",
  });

/** The kind of each point, which determines how its hooks are called and which fields they may change. */
export const HOOK_POINTS: PointDefinitions<HookPoints> = {
  message_received: { kind: "observe" },
  before_model_resolve: {
    kind: "modify",
    change: z.object({
      model: z.optional(z.union([z.string(), z.undefined()])),
      thinking: z.optional(z.enum(THINKING)),
    }),
  },
  before_prompt_build: { kind: "modify", change: z.object({ extra: z.optional(SECTIONS) }) },
  run_start: { kind: "observe" },
  turn_start: { kind: "observe" },
  before_tool_call: {
    kind: "block",
    change: z.object({ args: z.optional(TOOL_ARGUMENTS) }),
  },
  after_tool_call: { kind: "observe" },
  turn_end: { kind: "observe" },
  compaction_start: { kind: "observe" },
  compaction_end: { kind: "observe" },
  before_reply: { kind: "modify", change: z.object({ text: z.optional(z.string()) }) },
  message_sent: { kind: "observe" },
  run_end: { kind: "observe" },
};
