import type { JsonObject, StopReason, ThinkingLevel, ToolOutcome, Usage } from "@signalbox/agent-core";
import type { MessageEvent, Outbound } from "@signalbox/channel";
import type { ContextDocument, ExtraSection } from "@signalbox/prompt";
import type { RunOutcome } from "@signalbox/protocol";
import type { TurnUsage } from "@signalbox/server";
import { z } from "zod";
import type { Hooks } from "./hooks.ts";
import type { Gated, Hook, Modified, Observed, PointDefinitions } from "./point-types.ts";

/** Fields that identify the session of an event. */
interface Place {
  readonly agentId: string;
  readonly sessionKey: string;
}

/** A message was committed to the inbox. */
export interface MessageReceived extends Place {
  /** The gateway's own id of it. */
  readonly messageId: string;
  readonly event: MessageEvent;
  /** `answer` continues to the agent; the others end here. */
  readonly decision: "answer" | "pair" | "keep" | "ignore";
  /** The rule that decided so. */
  readonly rule: string;
}

/** A turn is about to be given its model. */
export interface BeforeModelResolve extends Place {
  /** The last message of the turn. */
  readonly event: MessageEvent;
  /**
   * `provider/model` that a directive or the session asks for; absent: the agent's own. One that cannot be reached is
   * passed over.
   */
  readonly model: string | undefined;
  readonly thinking: ThinkingLevel;
}

/** Attachments are read and the turn's system prompt is about to be built. */
export interface BeforePromptBuild extends Place {
  readonly event: MessageEvent;
  /** Pages behind links of the message. Others wrote them. */
  readonly pages: readonly ContextDocument[];
  /** Files attached to it, those that are shown to the model as pictures included. */
  readonly files: readonly ContextDocument[];
  /** `provider/model` that will read it. */
  readonly model: string;
  /** Instructions that an API client sent for this turn. */
  readonly instructions: string | undefined;
  /**
   * Sections added to the built-in ones; names are unique. `stable` ones that change from turn to turn break prompt
   * caches.
   */
  readonly extra: readonly ExtraSection[];
}

/** A tool call with checked arguments is about to be decided by policy. */
export interface BeforeToolCall extends Place {
  readonly tool: string;
  readonly callId: string;
  /** As checked; what a hook puts in their place is checked again. */
  readonly args: unknown;
}

/** Fields of events inside a run. */
export interface InRun extends Place {
  readonly runId: string;
}

/** An agent begins to work, or continues what an earlier process left. */
export interface RunStarted extends InRun {
  /** `provider/model` that it begins with. */
  readonly model: string;
  /** The platforms' ids of the messages it deals with. */
  readonly messageIds: readonly string[];
  /** An earlier process began it. */
  readonly goesOn: boolean;
}

/** A turn starts; the model is called next. */
interface TurnStarted extends InRun {
  readonly model: string;
  /** From 1. */
  readonly turn: number;
}

/** A turn has ended: the model has answered, and its tool calls have their results. */
interface TurnEnded extends TurnStarted {
  readonly stopReason: StopReason;
  readonly text: string;
  /** Names of the tools that were called. */
  readonly tools: readonly string[];
  readonly usage: Usage | undefined;
}

/** A summary is about to replace the older part of a conversation. */
interface CompactionStarted extends InRun {
  /** `manual`: requested with /compact. */
  readonly reason: "threshold" | "overflow" | "manual";
  /** About how many the conversation has. */
  readonly tokens: number;
}

/** A summary has replaced the older part of a conversation. */
interface CompactionEnded extends InRun {
  /** `metadata` where the model gave none in time. */
  readonly source: "model" | "metadata";
  /** About how many the conversation has now. */
  readonly tokens: number;
}

/** A tool call has its result. */
export interface AfterToolCall extends InRun {
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
  readonly outcome: ToolOutcome;
  /** Text of the prompt. */
  readonly text: string;
  readonly durationMs: number;
}

/** A reply is about to be committed. */
export interface BeforeReply extends Place {
  /** The message being answered. */
  readonly event: MessageEvent;
  /** A turn of the agent, or the answer to a slash command. */
  readonly source: "turn" | "command";
  /**
   * Empty says nothing, and takes away what was to be attached to it. What was streamed to a viewer before cannot be
   * taken back.
   */
  readonly text: string;
}

/** A reply is out: its platform has taken it, or it was shown to the gateway's own client. */
export interface MessageSent {
  readonly channel: string;
  readonly account: string;
  /** The channel's encoded address. */
  readonly address: string;
  readonly sessionKey: string | undefined;
  readonly runId: string | undefined;
  readonly message: Outbound;
}

/** A run ended, its end committed. */
export interface RunEnded extends InRun {
  /** The platforms' ids of the messages it dealt with. */
  readonly messageIds: readonly string[];
  readonly outcome: RunOutcome;
  readonly usage: TurnUsage | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/**
 * Every point at which a host can run its own code, in the order of a message. Hooks get a frozen copy: a hook acts by
 * what it returns.
 */
export interface HookPoints {
  readonly message_received: Observed<MessageReceived>;
  readonly before_model_resolve: Modified<BeforeModelResolve, "model" | "thinking">;
  readonly before_prompt_build: Modified<BeforePromptBuild, "extra">;
  readonly run_start: Observed<RunStarted>;
  readonly turn_start: Observed<TurnStarted>;
  readonly before_tool_call: Gated<BeforeToolCall, "args">;
  readonly after_tool_call: Observed<AfterToolCall>;
  readonly turn_end: Observed<TurnEnded>;
  readonly compaction_start: Observed<CompactionStarted>;
  readonly compaction_end: Observed<CompactionEnded>;
  readonly before_reply: Modified<BeforeReply, "text">;
  readonly message_sent: Observed<MessageSent>;
  readonly run_end: Observed<RunEnded>;
}

export type HookPoint = keyof HookPoints;

/** Code of a host at one point. */
export type GatewayHook = Hook<HookPoints>;

/** The gateway's registry of hooks. */
export type GatewayHooks = Hooks<HookPoints>;

/** Schema of tool arguments. */
export const TOOL_ARGUMENTS: z.ZodType<JsonObject> = z.record(z.string(), z.json());

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

/** The kind of each point, which decides how its hooks are called, and what they may change. */
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
    kind: "gate",
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
