import * as z from "zod/mini";
import {
  AgentList,
  ApprovalDecision,
  ApprovalList,
  ConversationHistory,
  ConversationList,
  ConversationTitle,
  LoginRequest,
  Me,
  PruneReport,
  RemoteChecks,
  SignedIn,
  Status,
  Trace,
  TrustRequest,
  TrustResult,
  UploadState,
  VacuumReport,
} from "./bodies.ts";
import {
  MessageList,
  NewSchedule,
  PairedPerson,
  PairingApproval,
  PairingList,
  Person,
  ScheduleList,
  ScheduleResult,
  ScheduleRun,
  SessionList,
  SignInLink,
  Why,
  WhyQuery,
} from "./owner-bodies.ts";
import { AbortRequest, EventCursor, MessageAccepted, MessageToSend, Name } from "./sent-message.ts";
import { ServerFrame } from "./server-frames.ts";
import { Usage, UsageQuery } from "./usage.ts";

/** A route of the HTTP API. */
export interface ApiRoute {
  readonly method: "GET" | "POST" | "PUT";
  /** Path with parameters, for instance `/api/conversations/:id/messages`. */
  readonly path: string;
  readonly summary: string;
  /** `public`: no credential. `client`: any token or session. `owner`: an owner's token or session. */
  readonly access: "public" | "client" | "owner";
  readonly query?: z.ZodMiniType;
  /** Schema of the JSON body, or `bytes` for `application/octet-stream`. */
  readonly body?: z.ZodMiniType | "bytes";
  /** Schema of the response. Without it, the response is 204. */
  readonly response?: z.ZodMiniType;
  /** True if the response is a stream of server-sent events. Their data have the schema `response`. */
  readonly isStream?: true;
  /** Additional error statuses. Every route can respond with 401, 403, 413, 415, 429 and 500. */
  readonly errors?: Readonly<Record<number, string>>;
}

/** All routes under `/api`. A test compares them with the routes of the server. */
export const API_ROUTES: readonly ApiRoute[] = [
  {
    method: "POST",
    path: "/api/login",
    summary: "Sign in with a token or a sign-in link. Sets the cookie of the session.",
    access: "public",
    body: LoginRequest,
    response: SignedIn,
  },
  { method: "POST", path: "/api/logout", summary: "End the session.", access: "client" },
  {
    method: "POST",
    path: "/api/sign-in-links",
    summary: "Create a link that signs a browser in once. Requires the token itself, not a session.",
    access: "owner",
    response: SignInLink,
  },
  {
    method: "GET",
    path: "/api/me",
    summary: "Return the authenticated user and the agents.",
    access: "client",
    response: Me,
  },
  { method: "GET", path: "/api/agents", summary: "List the agents.", access: "client", response: AgentList },
  {
    method: "GET",
    path: "/api/conversations",
    summary: "List the client's conversations.",
    access: "client",
    response: ConversationList,
  },
  {
    method: "GET",
    path: "/api/conversations/:id/messages",
    summary: "Return the messages of a conversation.",
    access: "client",
    response: ConversationHistory,
    errors: { 404: "The conversation does not exist." },
  },
  {
    method: "POST",
    path: "/api/conversations/:id/messages",
    summary: "Send a message. The response arrives when the message is durable; the reply arrives as events.",
    access: "client",
    body: MessageToSend,
    response: MessageAccepted,
    errors: {
      404: "The agent does not exist.",
      409: "The id belongs to another message.",
      503: "The inbox is full, or the gateway is stopping.",
    },
  },
  {
    method: "GET",
    path: "/api/conversations/:id/events",
    summary: "Stream the frames of a conversation as server-sent events.",
    access: "client",
    query: z.object({
      agent: z.optional(Name).check(z.describe("Default: the gateway's default agent.")),
      after: z
        .optional(EventCursor)
        .check(
          z.describe(
            "Cursor of the last frame that the client has read. The header `Last-Event-ID` takes precedence.",
          ),
        ),
    }),
    response: ServerFrame,
    isStream: true,
  },
  {
    method: "POST",
    path: "/api/conversations/:id/abort",
    summary: "Stop the current run of a conversation, if any.",
    access: "client",
    body: AbortRequest,
  },
  {
    method: "POST",
    path: "/api/conversations/:id/rename",
    summary: "Change the title of a conversation.",
    access: "client",
    body: ConversationTitle,
    errors: { 404: "The conversation does not exist." },
  },
  {
    method: "POST",
    path: "/api/conversations/:id/remove",
    summary: "Delete a conversation with its messages.",
    access: "client",
    errors: { 404: "The conversation does not exist.", 409: "The conversation has a current run." },
  },
  {
    method: "PUT",
    path: "/api/uploads/:id",
    summary: "Upload a piece of a file, at most 500 kB.",
    access: "client",
    query: z.object({
      at: z.coerce.number().check(z.describe("Offset of the piece in the file, in bytes.")),
    }),
    body: "bytes",
    response: UploadState,
    errors: {
      409: "`at` is not the number of received bytes.",
      507: "The upload quota of the client is used up.",
    },
  },
  {
    method: "GET",
    path: "/api/status",
    summary: "Return the state of the gateway.",
    access: "owner",
    response: Status,
  },
  {
    method: "GET",
    path: "/api/checks",
    summary: "Check the accounts at their platforms.",
    access: "owner",
    query: z.object({
      models: z.optional(z.literal("1")).check(z.describe("`1` also calls the model of each agent once.")),
    }),
    response: RemoteChecks,
  },
  {
    method: "GET",
    path: "/api/sessions",
    summary: "List the sessions of all channels.",
    access: "owner",
    response: SessionList,
  },
  {
    method: "GET",
    path: "/api/messages",
    summary: "List the latest messages.",
    access: "owner",
    query: z.object({
      session: z.optional(z.string()).check(z.describe("Key of a session. Default: all sessions.")),
    }),
    response: MessageList,
  },
  {
    method: "GET",
    path: "/api/why/:id",
    summary: "Explain what happened to a message.",
    access: "owner",
    query: WhyQuery,
    response: Why,
    errors: { 404: "The message does not exist." },
  },
  {
    method: "GET",
    path: "/api/trace/:id",
    summary: "Return the trace of a message.",
    access: "owner",
    response: Trace,
    errors: { 404: "The message does not exist." },
  },
  {
    method: "GET",
    path: "/api/usage",
    summary: "Return the usage of finished runs and the balance of budgets.",
    access: "owner",
    query: UsageQuery,
    response: Usage,
  },
  {
    method: "GET",
    path: "/api/pairings",
    summary: "List pending pairing requests and paired people.",
    access: "owner",
    response: PairingList,
  },
  {
    method: "POST",
    path: "/api/pairings/approve",
    summary: "Approve a pairing request.",
    access: "owner",
    body: PairingApproval,
    response: PairedPerson,
    errors: { 404: "No pending request has this code." },
  },
  {
    method: "POST",
    path: "/api/pairings/revoke",
    summary: "Revoke a pairing.",
    access: "owner",
    body: Person,
    errors: { 404: "The person is not paired." },
  },
  {
    method: "GET",
    path: "/api/approvals",
    summary: "List tool calls that wait for an approval.",
    access: "owner",
    response: ApprovalList,
  },
  {
    method: "POST",
    path: "/api/approvals/:id",
    summary: "Decide an approval.",
    access: "owner",
    body: ApprovalDecision,
    errors: { 404: "The approval is no longer pending." },
  },
  {
    method: "POST",
    path: "/api/trust",
    summary: "Mark a file in an agent's workspace as trusted.",
    access: "owner",
    body: TrustRequest,
    response: TrustResult,
  },
  {
    method: "GET",
    path: "/api/schedules",
    summary: "List schedules and heartbeats.",
    access: "owner",
    response: ScheduleList,
  },
  {
    method: "POST",
    path: "/api/schedules",
    summary: "Create a schedule.",
    access: "owner",
    body: NewSchedule,
    response: ScheduleResult,
  },
  {
    method: "POST",
    path: "/api/schedules/:id/remove",
    summary: "Delete a schedule.",
    access: "owner",
    errors: { 404: "The schedule does not exist." },
  },
  {
    method: "POST",
    path: "/api/schedules/:id/run",
    summary: "Trigger a schedule now.",
    access: "owner",
    response: ScheduleRun,
    errors: { 404: "The schedule does not exist." },
  },
  {
    method: "POST",
    path: "/api/maintenance/prune",
    summary: "Delete data that has exceeded its retention.",
    access: "owner",
    response: PruneReport,
  },
  {
    method: "POST",
    path: "/api/maintenance/vacuum",
    summary: "Return free database pages to the file system.",
    access: "owner",
    response: VacuumReport,
  },
  {
    method: "POST",
    path: "/api/outbox/changed",
    summary: "Reload the outbox after another process has changed it.",
    access: "owner",
  },
];
