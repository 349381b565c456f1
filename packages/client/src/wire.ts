/**
 * What travels between the gateway and its own clients: the frames of the WebSocket `/ws` and the bodies of
 * the HTTP API under `/api`. Both sides build on these types; reading untrusted text is in `parse.ts`.
 *
 * Times are Unix milliseconds, durations milliseconds, costs integer micro-units of the account's currency.
 * Frames are JSON texts, one object a frame. A client ignores frame types that it does not know.
 */

/** Version of the frames. A change that an older client would misread raises it. */
export const PROTOCOL: 1 = 1;

/** WebSocket close code: the session or token is no longer good. A client does not reconnect after it. */
export const CLOSE_UNAUTHORIZED: 4401 = 4401;

/** An agent that the signed-in user may talk to. */
export interface AgentInfo {
  id: string;
  name: string;
  /** `provider/model` as configured. */
  model: string;
  /** The built-in demo model answers for it, since no model key is set. */
  demo: boolean;
}

/** Who is signed in. */
export interface UserInfo {
  id: string;
  name: string;
}

/** A tool call as the model made it. */
export interface ToolCallInfo {
  id: string;
  name: string;
  /** The parsed arguments, any JSON value. */
  args: unknown;
}

/** How a tool call ended. */
export interface ToolResultInfo {
  id: string;
  name: string;
  isError: boolean;
  /** What the model was told, cut to a length fit for display. */
  text: string;
  durationMs: number;
}

export type Role = "user" | "assistant" | "tool";

/** A finished message. `text` of a `tool` message is the result that the model was told. */
export interface ChatMessage {
  id: string;
  role: Role;
  text: string;
  at: number;
  runId?: string;
  /** With role `tool`: the call that this message answers. */
  call?: ToolCallInfo & { isError: boolean; durationMs?: number };
}

export interface RunUsage {
  inputTokens: number;
  outputTokens: number;
  /** Absent where the model has no known price. */
  costMicros?: number;
}

/** `silent`: the agent chose to say nothing. */
export type RunOutcome = "replied" | "silent" | "failed" | "aborted";

/** Something that went wrong, in words for the person in front of the screen. */
export interface Problem {
  /** See {@link ErrorCode}; newer gateways may send others. */
  code: string;
  message: string;
  /** What the person can do about it. */
  remedy?: string;
}

/**
 * Codes of problems. From the gateway: `unauthorized` (no or wrong token), `forbidden`, `throttled` (too many
 * tries), `bad_request`, `too_large`, `not_found`, `unknown_agent`, `full` (the inbox takes no more),
 * `model` (the provider failed), `internal`. Made by the client itself: `network`, `timeout`, `protocol`
 * (the answer is none that a gateway gives), `closed`.
 */
export type ErrorCode =
  | "unauthorized"
  | "forbidden"
  | "throttled"
  | "bad_request"
  | "too_large"
  | "not_found"
  | "unknown_agent"
  | "full"
  | "model"
  | "internal"
  | "network"
  | "timeout"
  | "protocol"
  | "closed";

// --- frames from the client ---

/**
 * Shows this connection what happens in a conversation; answered with `subscribed`. A conversation that does
 * not exist yet may be subscribed to: its id is made by the client, and the first `send` creates it.
 */
export interface SubscribeFrame {
  type: "subscribe";
  conversation: string;
  agent?: string;
}

/**
 * A message to an agent. Answered with `accepted` once it is durable, or with an `error` of the same `id`.
 * Sending the same `id` again is harmless, so a client repeats what was not accepted after a reconnect.
 */
export interface SendFrame {
  type: "send";
  /** Idempotency key made by the client, see `newId`; 1 to 64 letters, digits, `_` and `-`. */
  id: string;
  agent: string;
  conversation: string;
  text: string;
}

/** Stops the run of a conversation, if there is one; its `run.end` says `aborted`. */
export interface AbortFrame {
  type: "abort";
  conversation: string;
}

/** Answered with `pong`. */
export interface PingFrame {
  type: "ping";
}

export type ClientFrame = SubscribeFrame | SendFrame | AbortFrame | PingFrame;

// --- frames from the gateway ---

/** The first frame of every connection. */
export interface ReadyFrame {
  type: "ready";
  protocol: typeof PROTOCOL;
  user: UserInfo;
  agents: AgentInfo[];
  /** At least one agent is answered by the demo model. */
  demo: boolean;
}

/**
 * Answers `subscribe`. Where a run is going on, its frames follow from `run.start` on (deltas joined), so
 * that a viewer who joins late sees the whole of it.
 */
export interface SubscribedFrame {
  type: "subscribed";
  conversation: string;
  /** A run is going on, or accepted messages wait for one. */
  busy: boolean;
  /** How the last run ended; tells a client that was away what it missed. */
  lastRun?: { runId: string; outcome: RunOutcome };
}

/** The message is durable. */
export interface AcceptedFrame {
  type: "accepted";
  /** The `id` of the `send`. */
  id: string;
  conversation: string;
  messageId: string;
  /** The same `id` had been accepted before; nothing was done anew. */
  duplicate: boolean;
}

/**
 * A run begins, or is told again after `subscribed`: then what was streamed of it is shown anew, and finished
 * messages and tool calls are told apart by their ids.
 */
export interface RunStartFrame {
  type: "run.start";
  conversation: string;
  runId: string;
}

export interface TextDeltaFrame {
  type: "text.delta";
  conversation: string;
  runId: string;
  delta: string;
}

export interface ThinkingDeltaFrame {
  type: "thinking.delta";
  conversation: string;
  runId: string;
  delta: string;
}

export interface ToolStartFrame {
  type: "tool.start";
  conversation: string;
  runId: string;
  call: ToolCallInfo;
}

export interface ToolEndFrame {
  type: "tool.end";
  conversation: string;
  runId: string;
  call: ToolResultInfo;
}

/**
 * A finished message; also the user's own, from this connection or another. An assistant's message replaces
 * the text streamed since the last finished message of its run.
 */
export interface MessageFrame {
  type: "message";
  conversation: string;
  message: ChatMessage;
}

export interface RunEndFrame {
  type: "run.end";
  conversation: string;
  runId: string;
  outcome: RunOutcome;
  usage?: RunUsage;
  /**
   * Ids of the messages that this run dealt with. A gateway that cannot tell leaves it out, and then sends
   * `accepted` before anything of the run.
   */
  answers?: string[];
}

/** With `id`: the `send` of that id was refused. With `conversation` alone: something in it failed. */
export interface ErrorFrame extends Problem {
  type: "error";
  id?: string;
  conversation?: string;
}

export interface PongFrame {
  type: "pong";
}

export type ServerFrame =
  | ReadyFrame
  | SubscribedFrame
  | AcceptedFrame
  | RunStartFrame
  | TextDeltaFrame
  | ThinkingDeltaFrame
  | ToolStartFrame
  | ToolEndFrame
  | MessageFrame
  | RunEndFrame
  | ErrorFrame
  | PongFrame;

// --- HTTP ---

/** `POST /api/login`; answered with 204 and a cookie (HttpOnly, SameSite=Strict), or 401. */
export interface LoginRequest {
  token: string;
}

/** `GET /api/me`, or 401. */
export interface Me {
  user: UserInfo;
  agents: AgentInfo[];
  demo: boolean;
  /** Version of the gateway. */
  version: string;
}

/** One of `GET /api/conversations`, which lists the latest first. */
export interface ConversationInfo {
  id: string;
  /** Id of the agent. */
  agent: string;
  title: string;
  updatedAt: number;
}

/** `GET /api/conversations/:id/messages`, oldest first; 404 for one that does not exist. */
export interface ConversationMessages {
  messages: ChatMessage[];
}

/** A channel account as `GET /api/status` shows it. */
export interface ChannelStatus {
  channel: string;
  account: string;
  state: string;
  /** Why it is in this state, where that needs saying. */
  reason?: string;
}

/** `GET /api/status`. */
export interface Status {
  version: string;
  demo: boolean;
  startedAt: number;
  agents: AgentInfo[];
  channels: ChannelStatus[];
  /** Messages accepted and not dealt with yet. */
  inboxPending: number;
  /** Parts of replies not delivered yet. */
  outboxPending: number;
}

/** What one stage noted about a message. */
export interface TraceEntry {
  at: number;
  /** Name of the stage: `intake`, `routing`, `prompt` … */
  stage: string;
  /** One line for people. */
  summary: string;
  /** The same for programs; its shape is the stage's own. */
  data?: unknown;
}

/** `GET /api/trace/:messageId`. */
export interface Trace {
  messageId: string;
  entries: TraceEntry[];
}

/** A tool call that waits for somebody's word, as `GET /api/approvals` lists it. */
export interface ApprovalInfo {
  /** Eight letters and digits. */
  id: string;
  agent: string;
  sessionKey: string;
  tool: string;
  /** Why it is asked. */
  reason: string;
  /** What would be done, in full. */
  action: string;
  /** The program, where one would be started. */
  binary?: string;
  /** The folder it would be started in. */
  cwd?: string;
  /** Variables it would have besides the usual ones. */
  env?: Record<string, string>;
  /** Milliseconds since the epoch; nobody's answer counts from then on. */
  expiresAt: number;
}

/** `GET /api/approvals`, the oldest first. */
export interface ApprovalList {
  approvals: ApprovalInfo[];
}

/** `POST /api/approvals/:id`; 404 where no such question is open. */
export interface ApprovalAnswer {
  answer: "allow" | "deny";
}

/** Body of every HTTP error. */
export interface ErrorBody {
  error: Problem;
}
