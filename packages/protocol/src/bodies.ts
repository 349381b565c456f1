import * as z from "zod/mini";
import { AgentInfo, ChatMessage, Problem, RunEnd, UserInfo } from "./values.ts";

/**
 * Body of `POST /api/login`. The response is a {@link SignedIn} body with a cookie (HttpOnly, SameSite=Strict), or 401.
 */
export const LoginRequest = z.object({
  /** A token, or the secret of a sign-in link. */
  token: z.string(),
});
export type LoginRequest = z.infer<typeof LoginRequest>;

/** Response of `POST /api/login`: the half of the session's credential that is not stored in the cookie. */
export const SignedIn = z.object({ sessionKey: z.string().check(z.regex(/^[\w-]+$/)) });
export type SignedIn = z.infer<typeof SignedIn>;

/** Response of `GET /api/sign-in-methods`: the sign-ins that the gateway offers to browsers. */
export const SignInMethods = z.object({
  /** True if the gateway accepts a token. The secret of a sign-in link is always accepted. */
  token: z.boolean(),
  /** Present if people sign in at an OpenID provider. */
  oidc: z.optional(z.object({ label: z.string() })),
  /** True if the request came through a trusted proxy that names its user. */
  proxy: z.boolean(),
});
export type SignInMethods = z.infer<typeof SignInMethods>;

/** Body of `POST /api/login/oidc`. */
export const OidcLogin = z.object({
  /** Path and query to which the browser returns. Default: `/`. */
  returnTo: z.optional(z.string().check(z.maxLength(2_000))),
  /** True if the provider must have verified the credentials recently. */
  again: z.optional(z.boolean()),
});
export type OidcLogin = z.infer<typeof OidcLogin>;

/** Response of `POST /api/login/oidc`: the address to which the page sends the browser. */
export const OidcRedirect = z.object({ url: z.string() });
export type OidcRedirect = z.infer<typeof OidcRedirect>;

/** Response of `POST /api/logout`. */
export const SignedOut = z.object({
  /** Address at which the browser also ends its session at the OpenID provider or the proxy. */
  url: z.optional(z.string()),
});
export type SignedOut = z.infer<typeof SignedOut>;

/** Response of `GET /api/me`. */
export const Me = z.object({
  user: UserInfo,
  agents: z.array(AgentInfo),
  demo: z.boolean(),
  /** Version of the gateway. */
  version: z.string(),
  /** True if `POST /api/conversations/:id/speech` can speak answers. */
  speech: z.optional(z.boolean()),
});
export type Me = z.infer<typeof Me>;

/** Body of `POST /api/conversations/:id/speech`. */
export const SpeechRequest = z.object({
  /** Id of an answer in the conversation. */
  message: z.string().check(z.minLength(1), z.maxLength(200)),
});
export type SpeechRequest = z.infer<typeof SpeechRequest>;

/** Response of `POST /api/conversations/:id/speech`. */
export const SpokenMessage = z.object({
  /** Media type, such as `audio/ogg`. */
  mimeType: z.string(),
  /** The recording in base64. */
  data: z.string(),
});
export type SpokenMessage = z.infer<typeof SpokenMessage>;

/** Response of `GET /api/agents`. */
export const AgentList = z.array(AgentInfo);
export type AgentList = z.infer<typeof AgentList>;

/** A conversation in {@link ConversationList}. */
export const ConversationInfo = z.object({
  id: z.string(),
  /** Id of the agent. */
  agent: z.string(),
  title: z.string(),
  updatedAt: z.number(),
  /** The `provider/model` chosen for the conversation. Absent if it uses the model of its agent. */
  model: z.optional(z.string()),
});
export type ConversationInfo = z.infer<typeof ConversationInfo>;

/** Response of `GET /api/conversations`, latest first. */
export const ConversationList = z.array(ConversationInfo);
export type ConversationList = z.infer<typeof ConversationList>;

/** Body of `POST /api/conversations/:id/rename`. The response is 204, or 404 if the conversation does not exist. */
export const ConversationTitle = z.strictObject({
  title: z.string().check(z.minLength(1), z.maxLength(200)),
});
export type ConversationTitle = z.infer<typeof ConversationTitle>;

/** Response of `GET /api/conversations/:id/messages`, or 404 if the conversation does not exist. */
export const ConversationHistory = z.object({
  /** Oldest first. Includes chat commands and their replies, which the agent does not see. */
  messages: z.array(ChatMessage),
  /** Outcomes of the runs of these messages that have ended. */
  ends: z.array(RunEnd),
  /** Cursor of earlier messages, for `GET /api/sessions/transcript`. Absent if `messages` includes the first one. */
  before: z.optional(z.number()),
});
export type ConversationHistory = z.infer<typeof ConversationHistory>;

/** An unguessable id that the client creates: 16 to 64 letters, digits, `_` and `-`. */
export const UploadId = z.string().check(z.regex(/^[\w-]{16,64}$/));

/** Maximum body size of `PUT /api/uploads/:id`, in bytes. Longer files are sent in pieces. */
export const UPLOAD_PIECE_BYTES = 500_000;

/**
 * Response of `PUT /api/uploads/:id?at=<offset>`, whose body is a piece of a file. The status is 409 if `at` is not the
 * number of bytes received so far, 413 if the file is too large, and 507 if the client has uploaded too many files.
 */
export const UploadState = z.object({
  /** Number of bytes of the file that the gateway has received. */
  bytes: z.number(),
});
export type UploadState = z.infer<typeof UploadState>;

/** A channel account in {@link Status}. */
export const ChannelStatus = z.object({
  channel: z.string(),
  account: z.string(),
  state: z.string(),
  /** Explains the state, for instance with an error from the platform. */
  reason: z.optional(z.string()),
});
export type ChannelStatus = z.infer<typeof ChannelStatus>;

/**
 * An error in the configuration file, as detected by the running gateway. Its environment may differ from the CLI's.
 */
export const ConfigurationError = z.object({
  /** Path of the field, for instance `agents.list[0].model`. Empty if the error concerns the entire file. */
  path: z.string(),
  message: z.string(),
  remedy: z.string(),
});

/** Changes to the configuration file that the running gateway has not applied. */
export const ConfigurationState = z.object({
  /** Changed keys that take effect at the next start. */
  forStart: z.array(z.string()),
  /** Sections that keep their previous values because of an error, or the file name if the file is unreadable. */
  kept: z.array(z.string()),
  /** Errors from the last time the gateway read the file. */
  errors: z.array(ConfigurationError),
});
export type ConfigurationState = z.infer<typeof ConfigurationState>;

/** Response of `GET /api/status`. */
export const Status = z.object({
  version: z.string(),
  /** The newest version on npm, if it is newer. */
  newerVersion: z.optional(z.string()),
  demo: z.boolean(),
  startedAt: z.number(),
  agents: z.array(AgentInfo),
  channels: z.array(ChannelStatus),
  configuration: ConfigurationState,
  /** Number of accepted messages that are not finished. */
  inboxPending: z.number(),
  /** Number of reply parts that have not been delivered. */
  outboxPending: z.number(),
});
export type Status = z.infer<typeof Status>;

/** The result of checking one external dependency, such as a bot's permissions or a model. */
export const RemoteCheck = z.object({
  /** For instance `channel feishu/main` or `model anthropic/claude-sonnet-4-6`. */
  part: z.string(),
  ok: z.boolean(),
  /** `error` if the dependency does not work at all. Default, if `ok` is false: `warning` */
  severity: z.optional(z.enum(["warning", "error"])),
  detail: z.string(),
  /** Advice for fixing the problem. */
  remedy: z.optional(z.string()),
});
export type RemoteCheck = z.infer<typeof RemoteCheck>;

/** Response of `GET /api/checks`. With `?models=1`, the gateway also calls the model of each agent once. */
export const RemoteChecks = z.object({ checks: z.array(RemoteCheck) });
export type RemoteChecks = z.infer<typeof RemoteChecks>;

/** A note of one pipeline stage about a message. */
export const TraceEntry = z.object({
  at: z.number(),
  /** Name of the stage, for instance `admit` or `run`. */
  stage: z.string(),
  /** One line in plain text. */
  summary: z.string(),
  /** The summary as structured data. Its shape depends on the stage. */
  data: z.optional(z.unknown()),
});
export type TraceEntry = z.infer<typeof TraceEntry>;

/** A message from any channel, with its source and its state. */
export const MessageInfo = z.object({
  /** The gateway's id. */
  id: z.string(),
  /** The platform's id, if any. */
  messageId: z.optional(z.string()),
  at: z.number(),
  channel: z.string(),
  account: z.string(),
  conversation: z.string(),
  sender: z.string(),
  /** Display name of the sender on the platform. Chosen by the sender, so it proves nothing. */
  senderName: z.optional(z.string()),
  text: z.string(),
  /**
   * `sending`: the answer is committed, but the platform has not accepted it yet. `uncertain`: the platform may or may
   * not have accepted it. `reason` is then the platform's last error.
   */
  state: z.enum([
    "accepted",
    "queued",
    "running",
    "sending",
    "uncertain",
    "replied",
    "silent",
    "ignored",
    "failed-reported",
    "expired-reported",
    "unreported",
  ]),
  agent: z.optional(z.string()),
  sessionKey: z.optional(z.string()),
  /** The admission rule that decided about it, or the error code that ended it. */
  rule: z.optional(z.string()),
  /** One sentence about its outcome. */
  reason: z.optional(z.string()),
});
export type MessageInfo = z.infer<typeof MessageInfo>;

/** Response of `GET /api/trace/:messageId`. */
export const Trace = z.object({
  messageId: z.string(),
  entries: z.array(TraceEntry),
  /** Absent if the message has been pruned. */
  message: z.optional(MessageInfo),
});
export type Trace = z.infer<typeof Trace>;

/**
 * A tool call that is waiting for an approval. In its texts, an escape such as `\u{202e}` replaces each invisible or
 * misleading character.
 */
export const ApprovalInfo = z.object({
  /** Eight letters and digits. */
  id: z.string(),
  agent: z.string(),
  sessionKey: z.string(),
  tool: z.string(),
  /** The person for whom the call is made, and the conversation. Names are chosen by people and shortened. */
  requester: z.optional(
    z.object({
      /** `channel:id`. */
      id: z.string(),
      name: z.optional(z.string()),
      /** True if no message of the person started the run, but for instance a schedule. */
      isAutomatic: z.optional(z.boolean()),
      channel: z.string(),
      /** `kind` is `direct`, `group` or `channel`. */
      conversation: z.object({ kind: z.string(), id: z.string(), title: z.optional(z.string()) }),
    }),
  ),
  /** The reason why the policy requires an approval. */
  reason: z.string(),
  /** The complete action, for instance the command line. */
  action: z.string(),
  /** The program that a command starts. */
  binary: z.optional(z.string()),
  /** Files that the command names, with their current content. The approval covers only this content. */
  files: z.optional(z.array(z.object({ path: z.string(), sha256: z.string() }))),
  /** Working directory of the command. */
  cwd: z.optional(z.string()),
  /** Hosts that the command can reach. */
  domains: z.optional(z.array(z.string())),
  /** Environment variables in addition to the default ones. */
  env: z.optional(z.record(z.string(), z.string())),
  /** Milliseconds since the epoch. The gateway ignores decisions after this time. */
  expiresAt: z.number(),
});
export type ApprovalInfo = z.infer<typeof ApprovalInfo>;

/** Response of `GET /api/approvals`, oldest first. */
export const ApprovalList = z.object({ approvals: z.array(ApprovalInfo) });
export type ApprovalList = z.infer<typeof ApprovalList>;

/** Body of `POST /api/approvals/:id`. The response is 204, or 404 if no such approval is pending. */
export const ApprovalDecision = z.strictObject({
  /**
   * `allow` is shorthand for `allow-once`. `allow-always` also saves an allow rule if the action can be expressed as
   * one.
   */
  answer: z.enum(["allow", "allow-once", "allow-always", "deny"]),
});
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** Body of `POST /api/trust`: marks a file or folder in an agent's workspace as trusted. */
export const TrustRequest = z.strictObject({
  /** Default: the default agent. */
  agent: z.optional(z.string()),
  path: z.string().check(z.minLength(1)),
  /** The digest of the review that the owner has seen. Without it, the response contains the review. */
  digest: z.optional(z.string()),
});
export type TrustRequest = z.infer<typeof TrustRequest>;

/** Response of `POST /api/trust`. */
export const TrustResult = z.union([
  z.object({ ok: z.literal(true), path: z.string() }),
  z.object({
    ok: z.literal(false),
    message: z.string(),
    /** The content to trust: the text of a file, or one line per file of a folder. */
    review: z.optional(z.object({ content: z.string(), digest: z.string() })),
  }),
]);
export type TrustResult = z.infer<typeof TrustResult>;

/** Response of `POST /api/maintenance/prune`: the number of rows deleted from each table. */
export const PruneReport = z.object({
  inbox: z.number(),
  dedupe: z.number(),
  runs: z.number(),
  outbox: z.number(),
  traces: z.number(),
  messages: z.number(),
  sessions: z.number(),
  kv: z.number(),
  /** Number of bytes of the database that remain in use. */
  usedBytes: z.number(),
});
export type PruneReport = z.infer<typeof PruneReport>;

/** Response of `POST /api/maintenance/vacuum`. */
export const VacuumReport = z.object({ freedBytes: z.number() });
export type VacuumReport = z.infer<typeof VacuumReport>;

/** Body of every error response of `/api`. */
export const ErrorBody = z.object({ error: Problem });
export type ErrorBody = z.infer<typeof ErrorBody>;
