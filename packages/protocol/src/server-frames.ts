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

/** Version of the frames. A change that an older client would misread raises it. */
export const PROTOCOL = 1;

/** WebSocket close code: the session or token is no longer good. A client does not reconnect after it. */
export const CLOSE_UNAUTHORIZED = 4401;

/** Where a viewer stands once it has seen the frame: given back, it is shown what came after. */
const at = { cursor: z.exactOptional(z.string()) };

/** The first frame of every connection. */
export const ReadyFrame = z.object({
  type: z.literal("ready"),
  protocol: z.literal(PROTOCOL),
  user: UserInfo,
  agents: z.array(AgentInfo),
  /** At least one agent is answered by the demo model. */
  demo: z.boolean(),
});
export type ReadyFrame = z.infer<typeof ReadyFrame>;

/**
 * Answers `subscribe`, and begins an event stream. Where a run is going on, its frames follow from `run.start` on
 * (deltas joined), so that a viewer who joins late sees the whole of it.
 */
export const SubscribedFrame = z.object({
  type: z.literal("subscribed"),
  conversation: z.string(),
  ...at,
  /**
   * What came after the cursor that was given follows, and nothing that came before. Absent where there was none, or
   * the gateway does not have all of that any more: what was missed is in the history then.
   */
  resumed: z.exactOptional(z.literal(true)),
  /** A run is going on, or accepted messages wait for one. */
  busy: z.boolean(),
  /** How the last run ended; tells a client that was away what it missed. */
  lastRun: z.exactOptional(z.object({ runId: z.string(), outcome: RunOutcome })),
});
export type SubscribedFrame = z.infer<typeof SubscribedFrame>;

/** The message is durable. Its run does not wait for the disk: it may have begun before this, or even ended. */
export const AcceptedFrame = z.object({
  type: z.literal("accepted"),
  /** The `id` of the `send`. */
  id: z.string(),
  conversation: z.string(),
  messageId: z.string(),
  /** The same `id` had been accepted before; nothing was done anew. */
  duplicate: z.boolean(),
});
export type AcceptedFrame = z.infer<typeof AcceptedFrame>;

const ofRun = { conversation: z.string(), runId: z.string(), ...at };

/**
 * A run begins, or is told again after `subscribed`: then what was streamed of it is shown anew, and finished
 * messages and tool calls are told apart by their ids.
 */
export const RunStartFrame = z.object({
  type: z.literal("run.start"),
  ...ofRun,
  /** Ids of the messages that it begins with. */
  answers: z.exactOptional(z.array(z.string())),
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

/** A tool reports progress, between its `tool.start` and its `tool.end`. */
export const ToolUpdateFrame = z.object({ type: z.literal("tool.update"), ...ofRun, call: ToolUpdateInfo });
export type ToolUpdateFrame = z.infer<typeof ToolUpdateFrame>;

export const ToolEndFrame = z.object({ type: z.literal("tool.end"), ...ofRun, call: ToolResultInfo });
export type ToolEndFrame = z.infer<typeof ToolEndFrame>;

/**
 * A finished message; also the user's own, from this connection or another. An assistant's message replaces
 * the text streamed since the last finished message of its run.
 */
export const MessageFrame = z.object({
  type: z.literal("message"),
  conversation: z.string(),
  ...at,
  message: ChatMessage,
});
export type MessageFrame = z.infer<typeof MessageFrame>;

/** The agent begins anew with a message: it knows nothing of what was said before any more. */
export const ResetFrame = z.object({
  type: z.literal("reset"),
  conversation: z.string(),
  ...at,
  /** Id of the message that it begins with. */
  messageId: z.string(),
});
export type ResetFrame = z.infer<typeof ResetFrame>;

export const RunEndFrame = z.object({
  type: z.literal("run.end"),
  ...ofRun,
  outcome: RunOutcome,
  usage: z.exactOptional(RunUsage),
  /**
   * Ids of the messages that this run dealt with. A gateway that cannot tell leaves it out, and then sends
   * `accepted` before anything of the run.
   */
  answers: z.exactOptional(z.array(z.string())),
});
export type RunEndFrame = z.infer<typeof RunEndFrame>;

/**
 * With `id`: the `send` of that id was refused. With `runId`: why that run fails, ahead of its end. With `conversation`
 * alone: something in it failed.
 */
export const ErrorFrame = z.extend(Problem, {
  type: z.literal("error"),
  id: z.exactOptional(z.string()),
  conversation: z.exactOptional(z.string()),
  runId: z.exactOptional(z.string()),
  ...at,
});
export type ErrorFrame = z.infer<typeof ErrorFrame>;

/** The activity of the whole gateway, for a connection that watches: replaces the previous one. */
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

/** The frames that tell what happens in a conversation, to all who have subscribed to it. */
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

/**
 * What happens in a conversation before it is known who looks and under which name: with the `conversation`
 * of a viewer it is a frame.
 */
export type LiveEvent = WithoutViewer<ConversationFrame>;

/** Reads a frame of the gateway; undefined for a type that is unknown, or that lacks what it must hold. */
export function parseServerFrame(data: string): ServerFrame | undefined {
  const parsed = ServerFrame.safeParse(parseJson(data));
  return parsed.success ? parsed.data : undefined;
}
