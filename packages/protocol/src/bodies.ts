import * as z from "zod/mini";
import { AgentInfo, ChatMessage, Problem, RunEnd, UserInfo } from "./values.ts";

/**
 * `POST /api/login` with a token, or with the secret of a sign-in link; answered with a {@link SignedIn} and a cookie
 * (HttpOnly, SameSite=Strict), or 401.
 */
export const LoginRequest = z.object({ token: z.string() });
export type LoginRequest = z.infer<typeof LoginRequest>;

/** The half of a browser's session that is not in the cookie. */
export const SignedIn = z.object({ sessionKey: z.string().check(z.regex(/^[\w-]+$/)) });
export type SignedIn = z.infer<typeof SignedIn>;

/** `GET /api/me`, or 401. */
export const Me = z.object({
  user: UserInfo,
  agents: z.array(AgentInfo),
  demo: z.boolean(),
  /** Version of the gateway. */
  version: z.string(),
});
export type Me = z.infer<typeof Me>;

/** `GET /api/agents`. */
export const AgentList = z.array(AgentInfo);
export type AgentList = z.infer<typeof AgentList>;

/** One of `GET /api/conversations`. */
export const ConversationInfo = z.object({
  id: z.string(),
  /** Id of the agent. */
  agent: z.string(),
  title: z.string(),
  updatedAt: z.number(),
});
export type ConversationInfo = z.infer<typeof ConversationInfo>;

/** `GET /api/conversations`, the latest first. */
export const ConversationList = z.array(ConversationInfo);
export type ConversationList = z.infer<typeof ConversationList>;

/** `POST /api/conversations/:id/rename`; 404 for one that does not exist. */
export const ConversationTitle = z.strictObject({
  title: z.string().check(z.minLength(1), z.maxLength(200)),
});
export type ConversationTitle = z.infer<typeof ConversationTitle>;

/** `GET /api/conversations/:id/messages`; 404 for one that does not exist. */
export const ConversationHistory = z.object({
  /** Oldest first, with commands and their answers, which the agent itself does not know. */
  messages: z.array(ChatMessage),
  /** How the runs of these messages ended, as far as they have. */
  ends: z.array(RunEnd),
});
export type ConversationHistory = z.infer<typeof ConversationHistory>;

/** Made by the client, and not to be guessed: 16 to 64 letters, digits, `_` and `-`. */
export const UploadId = z.string().check(z.regex(/^[\w-]{16,64}$/));

/** The largest body of a `PUT /api/uploads/:id`: a longer file is sent in pieces. */
export const UPLOAD_PIECE_BYTES = 500_000;

/**
 * `PUT /api/uploads/:id?at=<bytes before it>`, with a piece of a file as its body: how much of the file is there now.
 * 409 with the same where the piece does not follow on that, 413 for what is too large, 507 where too much is kept.
 */
export const UploadState = z.object({ bytes: z.number() });
export type UploadState = z.infer<typeof UploadState>;

/** A channel account as `GET /api/status` shows it. */
export const ChannelStatus = z.object({
  channel: z.string(),
  account: z.string(),
  state: z.string(),
  /** Why it is in this state, where that needs saying. */
  reason: z.exactOptional(z.string()),
});
export type ChannelStatus = z.infer<typeof ChannelStatus>;

/** An error of the configuration file, as the gateway that runs sees it: another process may have other variables. */
export const ConfigurationError = z.object({
  /** For instance `agents.list[0].model`; empty for the whole file. */
  path: z.string(),
  message: z.string(),
  remedy: z.string(),
});

/** What of the configuration file does not apply to the gateway that runs. */
export const ConfigurationState = z.object({
  /** Keys whose change counts from its next start on. */
  forStart: z.array(z.string()),
  /**
   * Sections that stay as they were, for a mistake in them or in one that is changed together with them; the
   * file's name where none of it can be read.
   */
  kept: z.array(z.string()),
  /** What was wrong when it last read the file. */
  errors: z.array(ConfigurationError),
});
export type ConfigurationState = z.infer<typeof ConfigurationState>;

/** `GET /api/status`. */
export const Status = z.object({
  version: z.string(),
  demo: z.boolean(),
  startedAt: z.number(),
  agents: z.array(AgentInfo),
  channels: z.array(ChannelStatus),
  configuration: ConfigurationState,
  /** Messages accepted and not dealt with yet. */
  inboxPending: z.number(),
  /** Parts of replies not delivered yet. */
  outboxPending: z.number(),
});
export type Status = z.infer<typeof Status>;

/** One thing that the gateway needs on somebody else's side, asked for there. */
export const RemoteCheck = z.object({
  /** For instance `channel feishu/main` or `model anthropic/claude-sonnet-4-6`. */
  part: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  /** What to do there. */
  remedy: z.exactOptional(z.string()),
});
export type RemoteCheck = z.infer<typeof RemoteCheck>;

/** `GET /api/checks`; with `?models=1` each agent's model is also called once. */
export const RemoteChecks = z.object({ checks: z.array(RemoteCheck) });
export type RemoteChecks = z.infer<typeof RemoteChecks>;

/** What one stage noted about a message. */
export const TraceEntry = z.object({
  at: z.number(),
  /** Name of the stage: `intake`, `routing`, `prompt` … */
  stage: z.string(),
  /** One line for people. */
  summary: z.string(),
  /** The same for programs; its shape is the stage's own. */
  data: z.exactOptional(z.unknown()),
});
export type TraceEntry = z.infer<typeof TraceEntry>;

/** A message of any channel: where it came from, and what happened to it. */
export const MessageInfo = z.object({
  /** The gateway's id. */
  id: z.string(),
  /** The platform's, where it has one. */
  messageId: z.exactOptional(z.string()),
  at: z.number(),
  channel: z.string(),
  account: z.string(),
  conversation: z.string(),
  sender: z.string(),
  text: z.string(),
  state: z.enum([
    "accepted",
    "queued",
    "running",
    "replied",
    "silent",
    "ignored",
    "failed-reported",
    "expired-reported",
  ]),
  agent: z.exactOptional(z.string()),
  sessionKey: z.exactOptional(z.string()),
  /** The rule by which it was let in or not, or the code of what ended it. */
  rule: z.exactOptional(z.string()),
  /** One sentence about its end. */
  reason: z.exactOptional(z.string()),
});
export type MessageInfo = z.infer<typeof MessageInfo>;

/** `GET /api/trace/:messageId`. */
export const Trace = z.object({
  messageId: z.string(),
  entries: z.array(TraceEntry),
  /** Absent once the message itself was pruned. */
  message: z.exactOptional(MessageInfo),
});
export type Trace = z.infer<typeof Trace>;

/**
 * A tool call that waits for an approval, as `GET /api/approvals` lists it. In its texts, `\u{202e}` replaces a
 * character that is invisible or would mislead.
 */
export const ApprovalInfo = z.object({
  /** Eight letters and digits. */
  id: z.string(),
  agent: z.string(),
  sessionKey: z.string(),
  tool: z.string(),
  /** Why it is asked. */
  reason: z.string(),
  /** What would be done, in full. */
  action: z.string(),
  /** The program, where one would be started. */
  binary: z.exactOptional(z.string()),
  /** Files that it names, as they are now: decided about with it. */
  files: z.exactOptional(z.array(z.object({ path: z.string(), sha256: z.string() }))),
  /** The folder it would be started in. */
  cwd: z.exactOptional(z.string()),
  /** Hosts that it could reach. */
  domains: z.exactOptional(z.array(z.string())),
  /** Its environment variables in addition to the usual ones. */
  env: z.exactOptional(z.record(z.string(), z.string())),
  /** Milliseconds since the epoch; after that no answer counts. */
  expiresAt: z.number(),
});
export type ApprovalInfo = z.infer<typeof ApprovalInfo>;

/** `GET /api/approvals`, the oldest first. */
export const ApprovalList = z.object({ approvals: z.array(ApprovalInfo) });
export type ApprovalList = z.infer<typeof ApprovalList>;

/** `POST /api/approvals/:id`; 404 where no such question is open. */
export const ApprovalAnswer = z.strictObject({
  /** `allow` and `allow-once` are the same; `allow-always` also makes an allow rule, where one can say it. */
  answer: z.enum(["allow", "allow-once", "allow-always", "deny"]),
});
export type ApprovalAnswer = z.infer<typeof ApprovalAnswer>;

/** `POST /api/trust`: an owner vouches for a file or folder of an agent's workspace. */
export const TrustRequest = z.strictObject({
  /** Default: the default agent. */
  agent: z.exactOptional(z.string()),
  path: z.string().check(z.minLength(1)),
});
export type TrustRequest = z.infer<typeof TrustRequest>;

export const TrustAnswer = z.union([
  z.object({ ok: z.literal(true), path: z.string() }),
  z.object({ ok: z.literal(false), message: z.string() }),
]);
export type TrustAnswer = z.infer<typeof TrustAnswer>;

/** `POST /api/maintenance/prune`: what was removed, in rows. */
export const PruneReport = z.object({
  inbox: z.number(),
  dedupe: z.number(),
  runs: z.number(),
  outbox: z.number(),
  traces: z.number(),
  messages: z.number(),
  sessions: z.number(),
  kv: z.number(),
  /** Bytes of the database in use afterwards. */
  usedBytes: z.number(),
});
export type PruneReport = z.infer<typeof PruneReport>;

/** `POST /api/maintenance/vacuum`. */
export const VacuumReport = z.object({ freedBytes: z.number() });
export type VacuumReport = z.infer<typeof VacuumReport>;

/** Body of every HTTP error. */
export const ErrorBody = z.object({ error: Problem });
export type ErrorBody = z.infer<typeof ErrorBody>;
