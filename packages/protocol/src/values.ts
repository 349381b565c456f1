import * as z from "zod/mini";

/** An agent that the signed-in user may talk to. */
export const AgentInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** `provider/model` as configured. */
  model: z.string(),
  /** The built-in demo model answers for it, since no model key is set. */
  demo: z.boolean(),
  /** It answers where no agent is named. */
  default: z.exactOptional(z.boolean()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** The agent that answers where none is named; undefined where there is no agent at all. */
export function defaultAgent<Agent extends AgentInfo>(agents: readonly Agent[]): Agent | undefined {
  return agents.find((agent) => agent.default === true) ?? agents[0];
}

/** Who is signed in: `owner` or the name of a token, with what it may do; owners may do everything. */
export const UserInfo = z.object({
  id: z.string(),
  name: z.string(),
  role: z.exactOptional(z.enum(["owner", "member"])),
});
export type UserInfo = z.infer<typeof UserInfo>;

/** What the gateway says itself there is in these. */
export const Language = z.enum(["en", "zh"]);
export type Language = z.infer<typeof Language>;

/** A tool call as the model made it. */
export const ToolCallInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** The parsed arguments, any JSON value. */
  args: z.unknown(),
});
export type ToolCallInfo = z.infer<typeof ToolCallInfo>;

/** What a tool has to say while it works. */
export const ToolUpdateInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** All that it has told so far, cut to a length fit for display; replaces the update before it. */
  text: z.string(),
});
export type ToolUpdateInfo = z.infer<typeof ToolUpdateInfo>;

/** How a tool call ended. */
export const ToolResultInfo = z.object({
  id: z.string(),
  name: z.string(),
  isError: z.boolean(),
  /** What the model was told, cut to a length fit for display. */
  text: z.string(),
  durationMs: z.number(),
});
export type ToolResultInfo = z.infer<typeof ToolResultInfo>;

export const Role = z.enum(["user", "assistant", "tool"]);
export type Role = z.infer<typeof Role>;

/** A file that came with a message. */
export const AttachmentInfo = z.object({
  /** As the sender called it. */
  name: z.exactOptional(z.string()),
  /** As the sender or the platform said it is. */
  mimeType: z.string(),
  bytes: z.exactOptional(z.number()),
});
export type AttachmentInfo = z.infer<typeof AttachmentInfo>;

/** A finished message. `text` of a `tool` message is the result that the model was told. */
export const ChatMessage = z.object({
  id: z.string(),
  role: Role,
  text: z.string(),
  at: z.number(),
  runId: z.exactOptional(z.string()),
  /** With role `user`: what came with it. */
  attachments: z.exactOptional(z.array(AttachmentInfo)),
  /** With role `assistant`: answers that may be sent to it as they are. */
  choices: z.exactOptional(z.array(z.string())),
  /** The agent begins anew with this message: it knows nothing of what was said before any more. */
  begins: z.exactOptional(z.literal(true)),
  /** With role `tool`: the call that this message answers. */
  call: z.exactOptional(
    z.extend(ToolCallInfo, { isError: z.boolean(), durationMs: z.exactOptional(z.number()) }),
  ),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** What a run consumed; 0 where the vendor did not say. */
export const RunUsage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Absent where the model has no known price. */
  costMicros: z.exactOptional(z.number()),
});
export type RunUsage = z.infer<typeof RunUsage>;

/** `silent`: the agent chose to say nothing. */
export const RunOutcome = z.enum(["replied", "silent", "failed", "aborted"]);
export type RunOutcome = z.infer<typeof RunOutcome>;

/** Something that went wrong, in words for the person in front of the screen. */
export const Problem = z.object({
  /** See {@link ErrorCode}; newer gateways may send others. */
  code: z.string(),
  message: z.string(),
  /** What the person can do about it. */
  remedy: z.exactOptional(z.string()),
});
export type Problem = z.infer<typeof Problem>;

/** How a run ended, for those who did not watch. */
export const RunEnd = z.object({
  runId: z.string(),
  outcome: RunOutcome,
  usage: z.exactOptional(RunUsage),
  /** Why it failed. */
  error: z.exactOptional(Problem),
});
export type RunEnd = z.infer<typeof RunEnd>;

/**
 * Codes of problems. From the gateway: `unauthorized` (no or wrong token), `forbidden`, `throttled` (too many
 * tries), `bad_request`, `too_large`, `not_found`, `busy` (a run goes on),
 * `unknown_agent`, `full` (the inbox takes no more),
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
  | "busy"
  | "unknown_agent"
  | "full"
  | "model"
  | "internal"
  | "network"
  | "timeout"
  | "protocol"
  | "closed";
