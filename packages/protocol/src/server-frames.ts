import * as z from "zod/mini";
import { Activity } from "./activity.ts";
import { parseJson } from "./json.ts";
import {
  AgentInfo,
  ChatMessage,
  Problem,
  RunOutcome,
  RunUsage,
  ToolCallInfo,
  ToolResultInfo,
  ToolUpdateInfo,
  UserInfo,
} from "./values.ts";

/** Version of the protocol. Incremented for changes that older clients would misinterpret. */
export const PROTOCOL = 1;

/** WebSocket close code: the session or token is no longer valid. A client must not reconnect after it. */
export const CLOSE_UNAUTHORIZED = 4401;

/** Position after the frame. Used as `after` in `subscribe`. */
const at = { cursor: z.optional(z.string()) };

/** The first frame of every connection. */
export const ReadyFrame = z.object({
  type: z.literal("ready"),
  protocol: z.literal(PROTOCOL),
  user: UserInfo,
  agents: z.array(AgentInfo),
  /** True if at least one agent uses the demo model. */
  demo: z.boolean(),
});
export type ReadyFrame = z.infer<typeof ReadyFrame>;

/**
 * Replies to `subscribe`, and starts an event stream. If there is a current run and the client does not resume, the
 * frames of the run follow from `run.start`, with merged deltas.
 */
export const SubscribedFrame = z.object({
  type: z.literal("subscribed"),
  conversation: z.string(),
  ...at,
  /**
   * True if only the events after the client's cursor follow. Absent if the client sent no cursor, or if the gateway no
   * longer has all events since then. In that case, the client reads the missed messages from the history.
   */
  resumed: z.optional(z.literal(true)),
  /** True if there is a current run, or accepted messages are waiting for one. */
  busy: z.boolean(),
  /** The last run that ended, for clients that were disconnected. */
  lastRun: z.optional(z.object({ runId: z.string(), outcome: RunOutcome })),
});
export type SubscribedFrame = z.infer<typeof SubscribedFrame>;

/** The message is durable. Its run may have started or even ended before this frame. */
export const AcceptedFrame = z.object({
  type: z.literal("accepted"),
  /** The `id` of the `send`. */
  id: z.string(),
  conversation: z.string(),
  messageId: z.string(),
  /** True if a message with the same `id` was accepted earlier, so that this frame had no effect. */
  duplicate: z.boolean(),
});
export type AcceptedFrame = z.infer<typeof AcceptedFrame>;

const ofRun = { conversation: z.string(), runId: z.string(), ...at };

/**
 * A run starts, or its frames are repeated after `subscribed`. A client that receives it again clears the streamed text
 * of the run and recognizes finished messages and tool calls by their ids.
 */
export const RunStartFrame = z.object({
  type: z.literal("run.start"),
  ...ofRun,
  /** Ids of the messages that started the run. */
  answers: z.optional(z.array(z.string())),
});
export type RunStartFrame = z.infer<typeof RunStartFrame>;

export const TextDeltaFrame = z.object({ type: z.literal("text.delta"), ...ofRun, delta: z.string() });
export type TextDeltaFrame = z.infer<typeof TextDeltaFrame>;

export const ThinkingDeltaFrame = z.object({
  type: z.literal("thinking.delta"),
  ...ofRun,
  delta: z.string(),
});
export type ThinkingDeltaFrame = z.infer<typeof ThinkingDeltaFrame>;

export const ToolStartFrame = z.object({ type: z.literal("tool.start"), ...ofRun, call: ToolCallInfo });
export type ToolStartFrame = z.infer<typeof ToolStartFrame>;

/** Progress of a tool call, between its `tool.start` and its `tool.end`. */
export const ToolUpdateFrame = z.object({ type: z.literal("tool.update"), ...ofRun, call: ToolUpdateInfo });
export type ToolUpdateFrame = z.infer<typeof ToolUpdateFrame>;

export const ToolEndFrame = z.object({ type: z.literal("tool.end"), ...ofRun, call: ToolResultInfo });
export type ToolEndFrame = z.infer<typeof ToolEndFrame>;

/**
 * A finished message from the agent or a user, including messages that this client sent. An assistant message replaces
 * the text streamed since the last finished message of its run.
 */
export const MessageFrame = z.object({
  type: z.literal("message"),
  conversation: z.string(),
  ...at,
  message: ChatMessage,
});
export type MessageFrame = z.infer<typeof MessageFrame>;

/** The context of the session was reset: the agent no longer sees earlier messages. */
export const ResetFrame = z.object({
  type: z.literal("reset"),
  conversation: z.string(),
  ...at,
  /** Id of the first message of the new context. */
  messageId: z.string(),
});
export type ResetFrame = z.infer<typeof ResetFrame>;

export const RunEndFrame = z.object({
  type: z.literal("run.end"),
  ...ofRun,
  outcome: RunOutcome,
  usage: z.optional(RunUsage),
  /** Ids of the messages that this run processed. If absent, `accepted` precedes all frames of the run. */
  answers: z.optional(z.array(z.string())),
});
export type RunEndFrame = z.infer<typeof RunEndFrame>;

/**
 * With `id`: the gateway refused that `send`. With `runId`: the reason why the run failed, sent before its `run.end`.
 * With only `conversation`: another failure in the conversation.
 */
export const ErrorFrame = z.extend(Problem, {
  type: z.literal("error"),
  id: z.optional(z.string()),
  conversation: z.optional(z.string()),
  runId: z.optional(z.string()),
  ...at,
});
export type ErrorFrame = z.infer<typeof ErrorFrame>;

/** The activity of the whole gateway, for connections that sent `watch`. Replaces the previous one. */
export const ActivityFrame = z.object({ type: z.literal("activity"), activity: Activity });
export type ActivityFrame = z.infer<typeof ActivityFrame>;

export const PongFrame = z.object({ type: z.literal("pong") });
export type PongFrame = z.infer<typeof PongFrame>;

export const ServerFrame = z.discriminatedUnion("type", [
  ReadyFrame,
  SubscribedFrame,
  AcceptedFrame,
  RunStartFrame,
  TextDeltaFrame,
  ThinkingDeltaFrame,
  ToolStartFrame,
  ToolUpdateFrame,
  ToolEndFrame,
  MessageFrame,
  ResetFrame,
  RunEndFrame,
  ErrorFrame,
  ActivityFrame,
  PongFrame,
]);
export type ServerFrame = z.infer<typeof ServerFrame>;

/** The frames that the gateway sends to all subscribers of a conversation. */
type ConversationFrame =
  | RunStartFrame
  | TextDeltaFrame
  | ThinkingDeltaFrame
  | ToolStartFrame
  | ToolUpdateFrame
  | ToolEndFrame
  | MessageFrame
  | ResetFrame
  | RunEndFrame
  | (ErrorFrame & { conversation: string });

type WithoutViewer<Frame> = Frame extends unknown ? Readonly<Omit<Frame, "conversation" | "cursor">> : never;

/** An event of a conversation. Adding the conversation id that a viewer uses turns it into a frame. */
export type LiveEvent = WithoutViewer<ConversationFrame>;

/** Parses a frame from the gateway. Returns undefined for invalid frames and unknown types. */
export function parseServerFrame(data: string): ServerFrame | undefined {
  const parsed = ServerFrame.safeParse(parseJson(data));
  return parsed.success ? parsed.data : undefined;
}
