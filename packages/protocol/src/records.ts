import * as z from "zod/mini";
import { ApprovalInfo } from "./bodies.ts";
import { TokenRole } from "./scopes.ts";

/** State of a reply. `uncertain`: it may have been sent. `dead`: given up. */
export const OutboxState = z.enum(["pending", "sending", "sent", "uncertain", "dead", "expired"]);
export type OutboxState = z.infer<typeof OutboxState>;

/** A reply that is not delivered. */
export const OutboxReply = z.object({
  id: z.string(),
  state: OutboxState,
  channel: z.string(),
  account: z.string(),
  sessionKey: z.optional(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  /** Number of times it was tried. */
  attempts: z.number(),
  /** The last error, or the reason for the state. */
  error: z.optional(z.string()),
  /** The beginning of its text. */
  text: z.string(),
});
export type OutboxReply = z.infer<typeof OutboxReply>;

/** Query of `GET /api/outbox`. */
export const OutboxQuery = z.object({
  /** `1` includes replies that wait or are being sent. Default: those that failed. */
  all: z.optional(z.literal("1")),
});
export type OutboxQuery = z.infer<typeof OutboxQuery>;

/** Response of `GET /api/outbox`, newest first, at most 1,000. */
export const OutboxList = z.object({ replies: z.array(OutboxReply) });
export type OutboxList = z.infer<typeof OutboxList>;

/** Response of `POST /api/outbox/:id/retry` and `POST /api/outbox/:id/drop`. */
export const OutboxResult = z.object({
  /** The state before the change. An `uncertain` reply that is retried may appear twice. */
  was: OutboxState,
});
export type OutboxResult = z.infer<typeof OutboxResult>;

/** Number of entries of a page, and where it starts. */
export const RecordQuery = z.object({
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 100),
});
export type RecordQuery = z.infer<typeof RecordQuery>;

/** A request for approval and its outcome. */
export const DecidedApproval = z.extend(ApprovalInfo, {
  state: z.string(),
  createdAt: z.number(),
  decidedAt: z.optional(z.number()),
  /** The person or token that decided. */
  approver: z.optional(z.string()),
});
export type DecidedApproval = z.infer<typeof DecidedApproval>;

/** Response of `GET /api/approvals/history`, newest first. */
export const ApprovalHistory = z.object({ approvals: z.array(DecidedApproval) });
export type ApprovalHistory = z.infer<typeof ApprovalHistory>;

/** Area of an audit entry. */
export const AuditKind = z.enum([
  "approval",
  "configuration",
  "operation",
  "pairing",
  "sign_in",
  "token",
  "tool",
]);
export type AuditKind = z.infer<typeof AuditKind>;

/** Query of `GET /api/audit`. */
export const AuditQuery = z.object({
  kind: z.optional(AuditKind),
  /** Only entries before this number. Default: the latest ones. */
  before: z.optional(z.coerce.number().check(z.int(), z.minimum(1))),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500)), 100),
});
export type AuditQuery = z.infer<typeof AuditQuery>;

/** An entry of the audit log. */
export const AuditRecord = z.object({
  /** Starts at 1 and has no gaps. */
  seq: z.number(),
  at: z.number(),
  kind: z.string(),
  action: z.string(),
  /** The person or component that decided, such as `token laptop`. */
  actor: z.string(),
  subject: z.string(),
  details: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
});
export type AuditRecord = z.infer<typeof AuditRecord>;

/** Response of `GET /api/audit`, newest first. */
export const AuditList = z.object({
  entries: z.array(AuditRecord),
  /** Pass it as `before` for the next page. Absent on the last page. */
  next: z.optional(z.number()),
});
export type AuditList = z.infer<typeof AuditList>;

/** Response of `GET /api/audit/verify`. */
export const AuditVerdict = z.object({
  intact: z.boolean(),
  /** Number of entries. */
  count: z.number(),
  /** If the log was altered: the first entry that is wrong, and the reason. */
  seq: z.optional(z.number()),
  reason: z.optional(z.string()),
});
export type AuditVerdict = z.infer<typeof AuditVerdict>;

/** A token. Its secret is not stored. */
export const TokenInfo = z.object({
  name: z.string(),
  role: TokenRole,
  /** A token, or a person who signs in at the OpenID provider or through a trusted proxy. Default: `token`. */
  kind: z.optional(z.enum(["token", "oidc", "proxy"])),
  createdAt: z.number(),
  usedAt: z.optional(z.number()),
});
export type TokenInfo = z.infer<typeof TokenInfo>;

/** Response of `GET /api/tokens`, without the gateway's own token. */
export const TokenList = z.object({ tokens: z.array(TokenInfo) });
export type TokenList = z.infer<typeof TokenList>;

/** A browser that is signed in. */
export const SignInInfo = z.object({
  id: z.string(),
  /** `owner` for the gateway's own token, otherwise the name of the token or the person. */
  name: z.string(),
  role: TokenRole,
  /** Absent if the gateway has no details about the session. */
  method: z.optional(z.enum(["token", "link", "oidc", "proxy"])),
  createdAt: z.number(),
  usedAt: z.number(),
  /** Address from which the browser signed in. */
  remote: z.optional(z.string()),
  userAgent: z.optional(z.string()),
  /** True for the session that sends the request. */
  isCurrent: z.optional(z.boolean()),
});
export type SignInInfo = z.infer<typeof SignInInfo>;
/** Response of `GET /api/sign-ins`, the latest use first. */
export const SignInList = z.object({ signIns: z.array(SignInInfo) });
export type SignInList = z.infer<typeof SignInList>;

/** Body of `POST /api/tokens`. */
export const NewToken = z.strictObject({
  /** Up to 64 letters, digits, `.`, `_` and `-`. */
  name: z.string().check(z.minLength(1), z.maxLength(64)),
  role: TokenRole,
});
export type NewToken = z.infer<typeof NewToken>;

/** Response of `POST /api/tokens`. */
export const CreatedToken = z.object({
  name: z.string(),
  role: TokenRole,
  /** The secret, which is shown only once. */
  token: z.string(),
});
export type CreatedToken = z.infer<typeof CreatedToken>;

/** Level of a log line. */
export const LogLevel = z.enum(["trace", "debug", "info", "warn", "error", "fatal"]);
export type LogLevel = z.infer<typeof LogLevel>;

/** Query of `GET /api/logs`. */
export const LogQuery = z.object({
  /** Minimum level. */
  level: z._default(LogLevel, "info"),
  /** Maximum number of lines. */
  lines: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(1_000)), 200),
});
export type LogQuery = z.infer<typeof LogQuery>;

/** A line of the log, without secrets. */
export const LogEntry = z.object({
  at: z.number(),
  level: LogLevel,
  message: z.string(),
  /** The other fields as text. */
  fields: z.record(z.string(), z.string()),
});
export type LogEntry = z.infer<typeof LogEntry>;

/** Response of `GET /api/logs`, oldest first. */
export const LogLines = z.object({ lines: z.array(LogEntry) });
export type LogLines = z.infer<typeof LogLines>;

/** A result of a check by `signalbox doctor`. */
export const HealthFinding = z.object({
  /** Such as `disk` or `channel feishu/main`. */
  part: z.string(),
  state: z.enum(["ok", "warning", "error"]),
  detail: z.string(),
  remedy: z.optional(z.string()),
});
export type HealthFinding = z.infer<typeof HealthFinding>;

/** Response of `GET /api/health`. */
export const Health = z.object({ findings: z.array(HealthFinding) });
export type Health = z.infer<typeof Health>;
