import {
  type AbortRequest,
  type AgentInfo,
  AgentList,
  type ApprovalDecision,
  type ApprovalInfo,
  ApprovalList,
  ClusterState,
  type CommandInfo,
  CommandList,
  ConversationHistory,
  type ConversationInfo,
  ConversationList,
  type ConversationTitle,
  type Language,
  type LoginRequest,
  McpCallbackResult,
  McpLoginResult,
  McpLogoutResult,
  type McpServerInfo,
  McpServerList,
  Me,
  MessageAccepted,
  MessageList,
  type MessageQuery,
  type MessageToSend,
  type NewSchedule,
  type OidcLogin,
  OidcRedirect,
  PairedPerson,
  type PairingApproval,
  PairingList,
  type Person,
  type RemoteCheck,
  RemoteChecks,
  type ScheduleInfo,
  ScheduleList,
  ScheduleResult,
  ScheduleRun,
  type SentAttachment,
  type ServerFrame,
  type SessionInfo,
  SessionList,
  SignedIn,
  SignedOut,
  SignInLink,
  SignInMethods,
  type SpeechRequest,
  SpokenMessage,
  Status,
  Trace,
  type TrustRequest,
  TrustResult,
  UploadState,
  Usage,
  type UsageQuery,
  UsageSeries,
  type UsageSeriesQuery,
  Why,
} from "@signalbox/protocol";
import type { AdminApi } from "./admin.ts";
import type { Outgoing } from "./connection.ts";
import { type EventsOptions, readEvents } from "./events.ts";
import { newId } from "./id.ts";
import { createLazyAdminApi } from "./lazy-admin.ts";
import { createRequests, type HttpOptions, type Requests } from "./requests.ts";
import type { SessionKey } from "./session-key.ts";
import { type UploadOptions, uploadFile } from "./upload.ts";

/** The HTTP API of a gateway. Every method rejects with a `ClientError`. */
export interface HttpApi extends AdminApi {
  /** Signs in with a token or the secret of a sign-in link. Stores the key of the new session in `storage`. */
  login(token: string): Promise<void>;
  /** Creates a link that signs a browser in once. Requires an owner's token; a session gets the code `forbidden`. */
  signInLink(): Promise<SignInLink>;
  /** Returns the sign-ins that the gateway offers to this browser. */
  signInMethods(): Promise<SignInMethods>;
  /**
   * Starts a sign-in at the OpenID provider. Returns the address to which the page sends the browser. The browser comes
   * back with the secret of a sign-in link. Codes `conflict` and `unavailable`.
   */
  startOidcLogin(options?: OidcLogin): Promise<string>;
  /** Signs in as the user whom a trusted proxy names. Code `forbidden` if the user has no role. */
  loginByProxy(): Promise<void>;
  /**
   * Ends the session of this browser.
   *
   * @returns the address at which the browser also ends its session at the OpenID provider or the proxy, if any
   */
  logout(): Promise<string | undefined>;
  me(): Promise<Me>;
  agents(): Promise<AgentInfo[]>;
  /** Lists the chat commands that the user may use. Default agent: the default one. */
  commands(agent?: string, language?: Language): Promise<CommandInfo[]>;
  /** Lists conversations, latest first. */
  conversations(): Promise<ConversationInfo[]>;
  /** Returns the messages of a conversation and the outcomes of its runs. Code `not_found` if it does not exist. */
  history(conversation: string): Promise<ConversationHistory>;
  /**
   * Speaks an answer of a conversation. Codes `not_found`, and `conflict` if it cannot be spoken, for example because a
   * budget is used up.
   */
  speak(conversation: string, messageId: string): Promise<SpokenMessage>;
  /** Code `not_found` if the conversation does not exist. */
  renameConversation(conversation: string, title: string): Promise<void>;
  /** Deletes a conversation with its messages. Code `busy` during a run. */
  removeConversation(conversation: string): Promise<void>;
  /**
   * Yields the frames of a conversation from server-sent events, starting with `subscribed`. Reopens and resumes a
   * broken stream. Leaving the loop closes it.
   */
  events(conversation: string, options?: EventsOptions): AsyncIterableIterator<ServerFrame, undefined>;
  /**
   * Sends a message over HTTP and resolves once the gateway has committed it. To retry safely, repeat it with the same
   * `id`.
   */
  send(message: Outgoing): Promise<MessageAccepted>;
  /** Stops the current run of a conversation, if any. */
  abort(conversation: string, agent?: string): Promise<void>;
  /** Uploads a file in pieces. Pass the result in `attachments` of a message. Codes `too_large` and `full`. */
  upload(file: Blob, options?: UploadOptions): Promise<SentAttachment>;
  /** Requires a token with more scopes than `chat`, like all methods below. */
  status(): Promise<Status>;
  /** Lists the gateways that share the store, and what each of them runs. */
  nodes(): Promise<ClusterState>;
  /** Checks the accounts on their platforms. With `models`, also calls the model of each agent once. */
  checks(options?: { readonly models?: boolean }): Promise<readonly RemoteCheck[]>;
  /** Lists the sessions of all channels, latest first. */
  sessions(): Promise<SessionInfo[]>;
  /**
   * Returns the latest messages of a session of any channel. To get earlier ones, pass `before` of the result. Code
   * `not_found` if the session does not exist.
   */
  transcript(sessionKey: string, before?: number): Promise<ConversationHistory>;
  /** Searches the messages of all channels, latest first. To get the next page, pass `next` as `before`. */
  messages(query?: MessageQuery): Promise<MessageList>;
  /** Returns the usage of finished runs by day and group. */
  usageSeries(query: UsageSeriesQuery): Promise<UsageSeries>;
  /** Returns the usage of finished runs and the balance of budgets. */
  usage(query: UsageQuery): Promise<Usage>;
  /** Explains what happened to a message. Default language: English. */
  why(messageId: string, language?: Language): Promise<Why>;
  /** Lists pending pairing requests and paired people. */
  pairings(): Promise<PairingList>;
  /** Approves the pairing request with this code. Code `not_found` if no pending request has it. */
  approvePairing(code: string): Promise<PairedPerson>;
  revokePairing(person: Person): Promise<void>;
  /** Returns the notes of each pipeline stage about a message. */
  trace(messageId: string): Promise<Trace>;
  /** Lists tool calls that are waiting for an approval, oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /** Code `not_found` if the approval is no longer pending. */
  decideApproval(id: string, decision: ApprovalDecision["answer"]): Promise<void>;
  /** Lists schedules and heartbeats, soonest first. */
  schedules(): Promise<ScheduleInfo[]>;
  addSchedule(schedule: NewSchedule): Promise<ScheduleResult>;
  /** Code `not_found` if there is no such schedule. */
  removeSchedule(id: string): Promise<void>;
  /** Triggers a schedule now, in addition to its regular times. Code `not_found` if there is no such schedule. */
  runSchedule(id: string): Promise<ScheduleRun["outcome"]>;
  /** Lists the MCP servers and the sign-ins at them. */
  mcpServers(): Promise<readonly McpServerInfo[]>;
  /**
   * Starts a sign-in at an MCP server. Code `not_found` if it does not exist or has no address.
   *
   * @param issuer confirms an authorization server on another host
   */
  mcpLogin(name: string, issuer?: string): Promise<McpLoginResult>;
  /** Completes a sign-in with the address at which the browser arrived. */
  mcpCallback(name: string, url: string): Promise<McpCallbackResult>;
  /** Signs out of an MCP server and revokes the tokens. */
  mcpLogout(name: string): Promise<McpLogoutResult>;
  /** Marks a file or folder in an agent's workspace as trusted. */
  trust(file: TrustRequest): Promise<TrustResult>;
}

export function createHttpApi(options: HttpOptions): HttpApi {
  const requests = createRequests(options);
  return {
    ...createSignInApi(requests, options.sessionKey),
    ...createConversationApi(requests),
    ...createStatusApi(requests),
    ...createOwnerApi(requests),
    ...createLazyAdminApi(requests),
  };
}

function createSignInApi(
  { get, post }: Requests,
  sessionKey: SessionKey,
): Pick<
  HttpApi,
  "login" | "signInMethods" | "startOidcLogin" | "loginByProxy" | "signInLink" | "logout" | "me"
> {
  return {
    login: async (token) => {
      const body: LoginRequest = { token };
      sessionKey.store((await post("/api/login", body, SignedIn)).sessionKey);
    },
    signInMethods: () => get("/api/sign-in-methods", SignInMethods),
    startOidcLogin: async (options = {}) => (await post("/api/login/oidc", options, OidcRedirect)).url,
    loginByProxy: async () => {
      sessionKey.store((await post("/api/login/proxy", {}, SignedIn)).sessionKey);
    },
    signInLink: () => post("/api/sign-in-links", {}, SignInLink),
    logout: async () => {
      const { url } = await post("/api/logout", {}, SignedOut);
      sessionKey.clear();
      return url;
    },
    me: () => get("/api/me", Me),
  };
}

type ConversationMethods =
  | "agents"
  | "commands"
  | "conversations"
  | "history"
  | "speak"
  | "renameConversation"
  | "removeConversation"
  | "events"
  | "send"
  | "abort"
  | "upload";

function createConversationApi({
  get,
  post,
  postVoid,
  put,
  events,
}: Requests): Pick<HttpApi, ConversationMethods> {
  const getPath = (conversation: string): string => `/api/conversations/${encodeURIComponent(conversation)}`;
  return {
    agents: () => get("/api/agents", AgentList),
    commands: async (agent, language) =>
      (await get(`/api/commands${toQuery({ agent, language })}`, CommandList)).commands,
    conversations: () => get("/api/conversations", ConversationList),
    history: (conversation) => get(`${getPath(conversation)}/messages`, ConversationHistory),
    async speak(conversation, message) {
      const body: SpeechRequest = { message };
      return post(`${getPath(conversation)}/speech`, body, SpokenMessage);
    },
    renameConversation: async (conversation, title) => {
      const body: ConversationTitle = { title };
      return postVoid(`${getPath(conversation)}/rename`, body);
    },
    removeConversation: async (conversation) => postVoid(`${getPath(conversation)}/remove`, {}),
    events: (conversation, options = {}) =>
      readEvents((after, signal) => events(conversation, options.agent, after, signal), options),
    send: async ({ conversation, id = newId(), ...message }) => {
      const body: MessageToSend = { id, ...message };
      return post(`${getPath(conversation)}/messages`, body, MessageAccepted);
    },
    abort: async (conversation, agent) => {
      const body: AbortRequest = { agent };
      return postVoid(`${getPath(conversation)}/abort`, body);
    },
    upload: (file, options = {}) =>
      uploadFile(
        file,
        options,
        async (path, piece, signal) => (await put(path, piece, UploadState, signal)).bytes,
      ),
  };
}

type StatusMethods =
  | "status"
  | "nodes"
  | "checks"
  | "sessions"
  | "transcript"
  | "messages"
  | "usage"
  | "usageSeries"
  | "why"
  | "trace";

function createStatusApi({ get }: Requests): Pick<HttpApi, StatusMethods> {
  return {
    status: () => get("/api/status", Status),
    nodes: () => get("/api/nodes", ClusterState),
    checks: async ({ models = false } = {}) =>
      (await get(models ? "/api/checks?models=1" : "/api/checks", RemoteChecks)).checks,
    sessions: async () => (await get("/api/sessions", SessionList)).sessions,
    transcript: (session, before) =>
      get(`/api/sessions/transcript${toQuery({ session, before })}`, ConversationHistory),
    messages: (query = {}) => get(`/api/messages${toQuery(query)}`, MessageList),
    usage: (query) => get(`/api/usage${toQuery(query)}`, Usage),
    usageSeries: (query) => get(`/api/usage/series${toQuery(query)}`, UsageSeries),
    why: (messageId, language = "en") =>
      get(`/api/why/${encodeURIComponent(messageId)}?language=${language}`, Why),
    trace: (messageId) => get(`/api/trace/${encodeURIComponent(messageId)}`, Trace),
  };
}

type OwnerMethods =
  | "pairings"
  | "approvePairing"
  | "revokePairing"
  | "approvals"
  | "decideApproval"
  | "schedules"
  | "addSchedule"
  | "removeSchedule"
  | "runSchedule"
  | "trust"
  | "mcpServers"
  | "mcpLogin"
  | "mcpCallback"
  | "mcpLogout";

function createOwnerApi({ get, post, postVoid }: Requests): Pick<HttpApi, OwnerMethods> {
  return {
    pairings: () => get("/api/pairings", PairingList),
    approvePairing: (code) => {
      const body: PairingApproval = { code };
      return post("/api/pairings/approve", body, PairedPerson);
    },
    revokePairing: ({ channel, account, peer }) =>
      postVoid("/api/pairings/revoke", { channel, account, peer }),
    approvals: async () => (await get("/api/approvals", ApprovalList)).approvals,
    decideApproval: async (id, answer) => {
      const body: ApprovalDecision = { answer };
      return postVoid(`/api/approvals/${encodeURIComponent(id)}`, body);
    },
    schedules: async () => (await get("/api/schedules", ScheduleList)).schedules,
    addSchedule: (schedule) => post("/api/schedules", schedule, ScheduleResult),
    removeSchedule: async (id) => postVoid(`/api/schedules/${encodeURIComponent(id)}/remove`, {}),
    runSchedule: async (id) =>
      (await post(`/api/schedules/${encodeURIComponent(id)}/run`, {}, ScheduleRun)).outcome,
    trust: (file) => post("/api/trust", file, TrustResult),
    mcpServers: async () => (await get("/api/mcp", McpServerList)).servers,
    mcpLogin: (name, issuer) =>
      post(
        `/api/mcp/${encodeURIComponent(name)}/login`,
        issuer === undefined ? {} : { issuer },
        McpLoginResult,
      ),
    mcpCallback: (name, url) =>
      post(`/api/mcp/${encodeURIComponent(name)}/callback`, { url }, McpCallbackResult),
    mcpLogout: (name) => post(`/api/mcp/${encodeURIComponent(name)}/logout`, {}, McpLogoutResult),
  };
}

/** Formats the parameters of a query that are set. */
function toQuery(query: Readonly<Record<string, string | number | undefined>>): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined);
  return set.length === 0 ? "" : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
}
