import * as z from "zod/mini";
import { Scope, TokenRole } from "./scopes.ts";

/** An agent that the signed-in user may talk to. */
export const AgentInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** The configured `provider/model`. */
  model: z.string(),
  /** True if the agent uses the built-in demo model because no model key is configured. */
  demo: z.boolean(),
  /** Set for the agent that receives messages without an agent name. */
  default: z.optional(z.boolean()),
});
export type AgentInfo = z.infer<typeof AgentInfo>;

/** Returns the default agent, or undefined if there are no agents. */
export function defaultAgent<Agent extends AgentInfo>(agents: readonly Agent[]): Agent | undefined {
  return agents.find((agent) => agent.default === true) ?? agents[0];
}

/** The authenticated user. */
export const UserInfo = z.object({
  /** `owner`, or the name of the token. */
  id: z.string(),
  name: z.string(),
  role: z.optional(TokenRole),
  /** Permissions of the token. Absent in a response of an older gateway. */
  scopes: z.optional(z.array(Scope)),
});
export type UserInfo = z.infer<typeof UserInfo>;

/** Languages of the gateway's own texts. */
export const Language = z.enum(["en", "zh"]);
export type Language = z.infer<typeof Language>;

/** Query of routes whose responses contain texts of the gateway. */
export const LanguageQuery = z.object({ language: z._default(Language, "en") });
export type LanguageQuery = z.infer<typeof LanguageQuery>;

/** A tool call as the model made it. */
export const ToolCallInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** The parsed arguments, any JSON value. */
  args: z.unknown(),
});
export type ToolCallInfo = z.infer<typeof ToolCallInfo>;

/** Progress of a tool call. */
export const ToolUpdateInfo = z.object({
  id: z.string(),
  name: z.string(),
  /** All output so far, truncated for display. Replaces the previous update. */
  text: z.string(),
});
export type ToolUpdateInfo = z.infer<typeof ToolUpdateInfo>;

/** The result of a tool call. */
export const ToolResultInfo = z.object({
  id: z.string(),
  name: z.string(),
  isError: z.boolean(),
  /** The text that the model received, truncated for display. */
  text: z.string(),
  durationMs: z.number(),
});
export type ToolResultInfo = z.infer<typeof ToolResultInfo>;

export const Role = z.enum(["user", "assistant", "tool"]);
export type Role = z.infer<typeof Role>;

/** A file attached to a message. */
export const AttachmentInfo = z.object({
  /** File name chosen by the sender. */
  name: z.optional(z.string()),
  /** Media type reported by the sender or the platform. */
  mimeType: z.string(),
  bytes: z.optional(z.number()),
});
export type AttachmentInfo = z.infer<typeof AttachmentInfo>;

/** A finished message. The `text` of a `tool` message is the result that the model received. */
export const ChatMessage = z.object({
  id: z.string(),
  role: Role,
  text: z.string(),
  at: z.number(),
  runId: z.optional(z.string()),
  /** For the role `user`: display name of the sender on the platform. Chosen by the sender, so it proves nothing. */
  sender: z.optional(z.string()),
  /** For the role `user`. */
  attachments: z.optional(z.array(AttachmentInfo)),
  /** For the role `assistant`: suggested replies. */
  choices: z.optional(z.array(z.string())),
  /** Set if the context was reset before this message, so that the agent does not see earlier messages. */
  begins: z.optional(z.literal(true)),
  /** For the role `tool`: the call that produced this result. */
  call: z.optional(z.extend(ToolCallInfo, { isError: z.boolean(), durationMs: z.optional(z.number()) })),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** Resource usage of a run. Token counts are 0 if the vendor did not report them. */
export const RunUsage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Cost in millionths of a US dollar. Absent if the price of the model is unknown. */
  costMicros: z.optional(z.number()),
});
export type RunUsage = z.infer<typeof RunUsage>;

/** Outcome of a run. `silent`: the agent decided not to reply. */
export const RunOutcome = z.enum(["replied", "silent", "failed", "aborted"]);
export type RunOutcome = z.infer<typeof RunOutcome>;

/** An error with a message for the user. */
export const Problem = z.object({
  /** An {@link ErrorCode}, or an unknown code from a newer gateway. */
  code: z.string(),
  message: z.string(),
  /** Advice for the user. */
  remedy: z.optional(z.string()),
  /** For the code `invalid`: the errors of the configuration, with the path of each. */
  details: z.optional(
    z.array(
      z.object({
        path: z.string(),
        /** Line of the file, from 1. */
        line: z.optional(z.number()),
        message: z.string(),
        remedy: z.string(),
      }),
    ),
  ),
});
export type Problem = z.infer<typeof Problem>;

/** The end of a run, for clients that load a conversation later. */
export const RunEnd = z.object({
  runId: z.string(),
  outcome: RunOutcome,
  usage: z.optional(RunUsage),
  /** The reason why it failed. */
  error: z.optional(Problem),
});
export type RunEnd = z.infer<typeof RunEnd>;

/**
 * Error codes. The gateway sends `unauthorized` (missing or wrong token), `forbidden`, `throttled` (too many attempts),
 * `bad_request`, `too_large`, `not_found`, `busy` (the conversation has a current run), `unknown_agent`, `full` (the
 * inbox or the upload quota is full), `unavailable` (the database cannot be used at the moment), `model` (the model
 * provider failed), `conflict` (the resource has changed, or its state does not permit this), `invalid` (the change
 * would not work), `sign_in_again` (the browser must sign in again first) and `internal`. The client itself reports
 * `network`, `timeout`, `protocol` (unexpected response) and `closed`.
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
  | "unavailable"
  | "disk_full"
  | "model"
  | "conflict"
  | "invalid"
  | "sign_in_again"
  | "internal"
  | "network"
  | "timeout"
  | "protocol"
  | "closed";
