import type { InlineImage, ReadBody, TurnSampling } from "@signalbox/channel";
import type {
  Activity,
  AgentInfo,
  ApprovalDecision,
  ApprovalInfo,
  ClusterState,
  CommandInfo,
  CommandQuery,
  ConversationHistory,
  ConversationInfo,
  Language,
  McpCallbackResult,
  McpLoginResult,
  McpLogoutResult,
  McpServerInfo,
  MessageList,
  MessageQuery,
  NewSchedule,
  PairedPerson,
  PairingList,
  Person,
  PruneReport,
  RemoteCheck,
  RunOutcome,
  ScheduleInfo,
  ScheduleResult,
  ScheduleRun,
  SessionInfo,
  SpokenMessage,
  Status,
  Trace,
  TrustRequest,
  TrustResult,
  Usage,
  UsageQuery,
  UsageSeries,
  UsageSeriesQuery,
  VacuumReport,
  Why,
} from "@signalbox/protocol";
import type { StoreErrorCode } from "@signalbox/store/errors";
import type { AdminService } from "./admin-service.ts";
import type { Principal } from "./auth/index.ts";
import type { LiveHub } from "./live/hub.ts";

/** Prefix of the id of a one-off conversation. */
export const ONE_OFF_PREFIX = "once:";

/**
 * Returns true for a one-off conversation: a request to the OpenAI surface without `user` creates it, and no later
 * request can continue it.
 */
export function isOneOff({ channel, peer }: { readonly channel: string; readonly peer: string }): boolean {
  return channel === "api" && peer.startsWith(ONE_OFF_PREFIX);
}

/** `web`: clients that watch a conversation. `api`: clients of the OpenAI-compatible API, which wait for one answer. */
export type Surface = "web" | "api";

/** A file that a client attaches to a message. */
export interface ClientAttachment {
  readonly kind: "image" | "file";
  /** A `data:` URL with the content, or an `http:` or `https:` URL from which the gateway fetches it. */
  readonly url: string;
  readonly name?: string;
}

/** A file that the client uploaded earlier. */
export interface UploadedFile {
  readonly id: string;
  readonly name?: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** A piece of a file. */
export interface UploadPiece {
  readonly client: Principal;
  readonly id: string;
  /** Offset of the piece in the file, in bytes. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The result of an uploaded piece. */
export interface UploadResult {
  readonly kind: "added" | "out_of_order" | "too_large" | "full";
  /** Number of bytes of the file that the gateway has received. */
  readonly bytes: number;
}

/** An earlier message of a conversation that the client manages itself. */
export interface ClientTurn {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Images with their content. A client cannot refer to files that the gateway stores. */
  readonly images?: readonly InlineImage[];
}

/** A message from a client. */
export interface Submission {
  /** Holder of the token that sent it. Default: the owner. */
  readonly sender?: Principal;
  readonly channel: Surface;
  readonly agent: string;
  /** Id of the conversation. On the OpenAI surface it is also the peer. */
  readonly conversation: string;
  /** Idempotency key that the client creates. */
  readonly id: string;
  readonly text: string;
  readonly attachments?: readonly ClientAttachment[];
  readonly uploads?: readonly UploadedFile[];
  /**
   * Source of the text if the token's holder did not write it, for example `hook build`. Such text taints the run and
   * is not parsed as a chat command.
   */
  readonly from?: string;
  /** Additional instructions for this run. */
  readonly instructions?: string;
  /** Earlier messages of a conversation that the client manages itself. They seed a new conversation. */
  readonly history?: readonly ClientTurn[];
  readonly sampling?: TurnSampling;
  /** Passes the text to the model even if it looks like a chat command. */
  readonly verbatim?: boolean;
}

/** The final result of a message. */
export interface Outcome {
  /** `ignored`: the gateway did not pass it to an agent. */
  readonly state: RunOutcome | "ignored";
  readonly runId?: string;
  /** The visible reply. */
  readonly text: string;
  /** `finish_reason` of the OpenAI API. Default `stop`. */
  readonly finishReason?: "stop" | "length" | "content_filter" | "error";
  readonly usage?: TurnUsage;
  readonly error?: OutcomeError;
}

/** The reason why a message got no answer. */
export interface OutcomeError {
  /**
   * A model error (`auth`, `billing`, `rate_limit`, `overloaded`, `overflow`, `invalid` …) or the gateway's own code.
   */
  readonly code: string;
  readonly message: string;
  /** Delay before a retry is useful, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** Resource usage of a run. Token counts are 0 if the vendor did not report them. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. Absent if the price is unknown. */
  readonly costMicros?: number;
}

export type SubmitResult =
  | {
      readonly kind: "accepted" | "duplicate";
      readonly messageId: string;
      readonly sessionKey: string;
      /** Resolves when the message has a final result. Never rejects. */
      readonly done: Promise<Outcome>;
    }
  | {
      readonly kind: "refused";
      /** `id_taken`: the id belongs to another message. */
      readonly code: "full" | "no_agent" | "stopping" | "id_taken";
      readonly message: string;
    };

/** MCP servers and the sign-in at them. */
export interface McpService {
  servers(): Promise<McpServerInfo[]>;
  /**
   * Starts a sign-in. Returns undefined if there is no such server.
   *
   * @param issuer confirms an authorization server on another host
   */
  login(name: string, issuer: string | undefined): Promise<McpLoginResult | undefined>;
  /**
   * Completes a sign-in.
   *
   * @param url the URL to which the authorization server sent the browser
   * @param actor recorded in the audit log
   */
  finishLogin(url: URL, actor: string): Promise<McpCallbackResult>;
  /** Returns undefined if there is no such server. */
  logout(name: string, actor: string): Promise<McpLogoutResult | undefined>;
}

/** The interface of the gateway that the server exposes over HTTP and WebSocket. */
export interface GatewayService {
  readonly version: string;
  /** Without it, the routes for administration do not exist, and no change is recorded in an audit log. */
  readonly admin?: AdminService;
  /** Without it, the routes for MCP servers do not exist. */
  readonly mcp?: McpService;
  readonly live: Pick<LiveHub, "subscribe" | "observe" | "running" | "resume" | "join">;
  agents(): readonly AgentInfo[];
  submit(submission: Submission): Promise<SubmitResult>;
  /** Stores a piece of a file. Messages of this client may refer to the file for a day. */
  upload(piece: UploadPiece): Promise<UploadResult>;
  /** Returns the answer to a message of the OpenAI surface, if the gateway still has it and it belongs to `client`. */
  answer(messageId: string, client: Principal): Promise<string | undefined>;
  /**
   * Stops the current run of a conversation and its sub-agents, and drops the messages that are waiting for a run.
   *
   * @returns whether there was anything to stop
   */
  abort(channel: Surface, agent: string, conversation: string): Promise<boolean>;
  /** Returns true if a session has a current run or messages that are waiting for one. */
  busy(sessionKey: string): boolean;
  /** Returns the last run of a session that ended since the gateway started. */
  lastRun(sessionKey: string): { readonly runId: string; readonly outcome: RunOutcome } | undefined;
  /** Returns the key of the session between a conversation and an agent. */
  sessionKey(channel: Surface, agent: string, conversation: string): string;
  /** Lists the conversations whose id starts with `prefix`. */
  conversations(prefix: string): Promise<ConversationInfo[]>;
  history(conversation: string): Promise<ConversationHistory | undefined>;
  /** Returns true if answers can be spoken. */
  canSpeak(): boolean;
  /**
   * Speaks an answer of a conversation. The client pays for it.
   *
   * @throws ApiError `not_found` if there is no such answer, `conflict` if it cannot be spoken
   */
  speak(conversation: string, messageId: string, client: Principal): Promise<SpokenMessage>;
  /** Returns false if there is no such conversation. */
  renameConversation(conversation: string, title: string): Promise<boolean>;
  /** Deletes a conversation with its messages. `busy`: it has a current run or a working sub-agent. */
  removeConversation(conversation: string): Promise<"removed" | "unknown" | "busy">;
  /**
   * Sends a text to the person or group of a session. Resolves when it is in the outbox.
   *
   * @param sender recorded in the audit log
   * @throws ApiError if the session does not exist or cannot receive messages
   */
  sendMessage(sessionKey: string, text: string, sender: string): Promise<void>;
  /** Lists the sessions of all channels, latest first. */
  sessions(): Promise<SessionInfo[]>;
  /** Returns the messages of a session of any channel. Returns undefined if there is no such session. */
  transcript(sessionKey: string, before?: number): Promise<ConversationHistory | undefined>;
  /** Searches the messages of all channels, latest first. */
  messages(query: MessageQuery): Promise<MessageList>;
  /** Lists the chat commands that a client may use. Returns undefined if there is no such agent. */
  commands(query: CommandQuery, client: Principal): CommandInfo[] | undefined;
  /**
   * Explains what happened to a message.
   *
   * @param messageId the gateway's or the platform's id of the message
   */
  why(messageId: string, language: Language): Promise<Why | undefined>;
  /** Lists pending pairing requests and paired people. */
  pairings(): Promise<PairingList>;
  /** Approves the pairing request with this code. Returns undefined if no pending request has it. */
  approvePairing(code: string, approver: string): Promise<PairedPerson | undefined>;
  /** Returns false if the person was not paired. */
  revokePairing(person: Person, revoker: string): Promise<boolean>;
  /** @param messageId the gateway's or the platform's id of the message */
  trace(messageId: string): Promise<Trace | undefined>;
  /** Lists the tool calls that are waiting for approval, oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /**
   * Decides a pending approval.
   *
   * @param approver recorded in the audit log
   * @returns false if the approval is no longer pending
   */
  decideApproval(id: string, decision: ApprovalDecision["answer"], approver: string): Promise<boolean>;
  /**
   * Marks a file in an agent's workspace as trusted if it has the digest that the owner has reviewed.
   *
   * @param owner recorded in the audit log
   */
  trust(request: TrustRequest, owner: string): Promise<TrustResult>;
  /** Lists schedules and heartbeats, soonest first. */
  schedules(): Promise<ScheduleInfo[]>;
  addSchedule(schedule: NewSchedule): Promise<ScheduleResult>;
  /** Returns false if there is no such schedule. */
  removeSchedule(id: string): Promise<boolean>;
  /** Triggers a schedule now, in addition to its regular times. */
  runSchedule(id: string): Promise<ScheduleRun["outcome"] | "unknown">;
  /** Returns the current activity of the whole gateway. */
  activity(): Promise<Activity>;
  /** Sums up the usage of runs and returns the balance of budgets. */
  usage(query: UsageQuery): Promise<Usage>;
  /** Returns the usage of runs by day and group. */
  usageSeries(query: UsageSeriesQuery): Promise<UsageSeries>;
  status(): Promise<Status>;
  /** Returns the gateways that share the store, and what each of them runs. */
  nodes(): Promise<ClusterState>;
  /**
   * Checks the accounts at their platforms.
   *
   * @param withModels also calls the model of each agent once
   */
  checks(withModels: boolean): Promise<RemoteCheck[]>;
  /** Returns metrics in the Prometheus text format. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Deletes data that has exceeded its retention time or count. */
  prune(): Promise<PruneReport>;
  /** Returns free database pages to the file system. Concurrent calls share one vacuum. */
  vacuum(): Promise<VacuumReport>;
  /** Reloads the outbox after another process has changed rows. */
  outboxChanged(): void;
  /** Returns true from the end of the start until the gateway stops. */
  ready(): boolean;
  /** Returns the reason why the store cannot be written at present, if there is one. */
  storeFault(): StoreErrorCode | undefined;
  /** Passes a platform's request to its channel account. Returns undefined if there is no such account. */
  webhook(channel: string, account: string, request: Request, read?: ReadBody): Promise<Response | undefined>;
}
