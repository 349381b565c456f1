import {
  type AbortRequest,
  type AgentInfo,
  AgentList,
  type ApprovalAnswer,
  type ApprovalInfo,
  ApprovalList,
  ConversationHistory,
  type ConversationInfo,
  ConversationList,
  type ConversationTitle,
  type Language,
  type LoginRequest,
  Me,
  MessageAccepted,
  type MessageInfo,
  MessageList,
  type MessageToSend,
  type NewSchedule,
  PairedPerson,
  type PairingApproval,
  PairingList,
  type Person,
  type RemoteCheck,
  RemoteChecks,
  ScheduleAnswer,
  type ScheduleInfo,
  ScheduleList,
  ScheduleRun,
  type SentAttachment,
  type ServerFrame,
  type SessionInfo,
  SessionList,
  SignedIn,
  SignInLink,
  Status,
  Trace,
  TrustAnswer,
  type TrustRequest,
  UploadState,
  Usage,
  type UsageQuery,
  Why,
} from "@signalbox/protocol";
import type { Outgoing } from "./connection.ts";
import { type EventsOptions, readEvents } from "./events.ts";
import { newId } from "./id.ts";
import { createRequests, type HttpOptions, type Requests } from "./requests.ts";
import type { SessionKey } from "./session-key.ts";
import { type UploadOptions, uploadFile } from "./upload.ts";

/** The requests of the HTTP API. Every method rejects with a `ClientError`. */
export interface HttpApi {
  /** Trades a token, or the secret of a sign-in link, for a session: a cookie, and a key that is kept beside it. */
  login(token: string): Promise<void>;
  /** What signs a browser in once, through `login`. For owners' tokens; code `forbidden` for a session. */
  signInLink(): Promise<SignInLink>;
  /** Ends the session of this browser. */
  logout(): Promise<void>;
  me(): Promise<Me>;
  agents(): Promise<AgentInfo[]>;
  /** The latest first. */
  conversations(): Promise<ConversationInfo[]>;
  /** What was said in a conversation, and how its runs ended; code `not_found` where it does not exist. */
  history(conversation: string): Promise<ConversationHistory>;
  /** Code `not_found` for a conversation that does not exist. */
  renameConversation(conversation: string, title: string): Promise<void>;
  /** Removes a conversation with everything said in it; code `busy` during a run. */
  removeConversation(conversation: string): Promise<void>;
  /**
   * The frames of a conversation, as server-sent events: first `subscribed`, then what happens. A stream that breaks
   * off is reopened and resumes; leaving the loop ends it.
   */
  events(conversation: string, options?: EventsOptions): AsyncIterableIterator<ServerFrame, undefined>;
  /**
   * Sends a message without a connection; resolves once the gateway has committed it. With an `id` of yours it can be
   * repeated where no answer came, and is taken once.
   */
  send(message: Outgoing): Promise<MessageAccepted>;
  /** Stops the run of a conversation, if there is one. */
  abort(conversation: string, agent?: string): Promise<void>;
  /** Sends a file piece by piece, for a message to name it. Code `too_large` or `full` where it is not taken. */
  upload(file: Blob, options?: UploadOptions): Promise<SentAttachment>;
  status(): Promise<Status>;
  /** What accounts lack on their platforms; with `models`, each agent's model is also called once. Only for owners. */
  checks(options?: { readonly models?: boolean }): Promise<readonly RemoteCheck[]>;
  /** Those of every channel, the latest first. */
  sessions(): Promise<SessionInfo[]>;
  /** The latest messages of all channels, or of one session. */
  latestMessages(sessionKey?: string): Promise<MessageInfo[]>;
  /** What runs have used that are over, and what is left of budgets. */
  usage(query: UsageQuery): Promise<Usage>;
  /** What happened to a message, with the notes of each stage. In English by default. */
  why(messageId: string, language?: Language): Promise<Why>;
  /** Who waits to be let in, and who was. */
  pairings(): Promise<PairingList>;
  /** Lets in who was sent this code; code `not_found` where no open request has it. */
  approvePairing(code: string): Promise<PairedPerson>;
  /** Unpairs a person who was let in. */
  revokePairing(person: Person): Promise<void>;
  /** What each stage noted about a message. */
  trace(messageId: string): Promise<Trace>;
  /** Tool calls that wait for an approval, the oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /** Answers one; code `not_found` where it is not open any more. */
  answerApproval(id: string, answer: ApprovalAnswer["answer"]): Promise<void>;
  /** What agents are to do by themselves, the soonest first. */
  schedules(): Promise<ScheduleInfo[]>;
  addSchedule(wanted: NewSchedule): Promise<ScheduleAnswer>;
  /** Code `not_found` if there is none. */
  removeSchedule(id: string): Promise<void>;
  /** Triggers it now, in addition to its times; code `not_found` if there is none. */
  runSchedule(id: string): Promise<ScheduleRun["outcome"]>;
  /** Vouches for a file or folder of an agent's workspace. */
  trust(file: TrustRequest): Promise<TrustAnswer>;
}

export function createHttpApi(options: HttpOptions): HttpApi {
  const requests = createRequests(options);
  return {
    ...signingIn(requests, options.sessionKey),
    ...conversing(requests),
    ...looking(requests),
    ...deciding(requests),
  };
}

function signingIn(
  { get, post, tell }: Requests,
  sessionKey: SessionKey,
): Pick<HttpApi, "login" | "signInLink" | "logout" | "me"> {
  return {
    login: async (token) => {
      const body: LoginRequest = { token };
      sessionKey.keep((await post("/api/login", body, SignedIn)).sessionKey);
    },
    signInLink: () => post("/api/sign-in-links", {}, SignInLink),
    logout: async () => {
      await tell("/api/logout", {});
      sessionKey.forget();
    },
    me: () => get("/api/me", Me),
  };
}

type Conversing =
  | "agents"
  | "conversations"
  | "history"
  | "renameConversation"
  | "removeConversation"
  | "events"
  | "send"
  | "abort"
  | "upload";

/** What everyone may do who may talk to an agent. */
function conversing({ get, post, tell, put, events }: Requests): Pick<HttpApi, Conversing> {
  const pathOf = (conversation: string): string => `/api/conversations/${encodeURIComponent(conversation)}`;
  return {
    agents: () => get("/api/agents", AgentList),
    conversations: () => get("/api/conversations", ConversationList),
    history: (conversation) => get(`${pathOf(conversation)}/messages`, ConversationHistory),
    renameConversation: async (conversation, title) => {
      const body: ConversationTitle = { title };
      return tell(`${pathOf(conversation)}/rename`, body);
    },
    removeConversation: async (conversation) => tell(`${pathOf(conversation)}/remove`, {}),
    events: (conversation, reading = {}) =>
      readEvents((after, signal) => events(conversation, reading.agent, after, signal), reading),
    send: async ({ conversation, id = newId(), ...message }) => {
      const body: MessageToSend = { id, ...message };
      return post(`${pathOf(conversation)}/messages`, body, MessageAccepted);
    },
    abort: async (conversation, agent) => {
      const body: AbortRequest = agent === undefined ? {} : { agent };
      return tell(`${pathOf(conversation)}/abort`, body);
    },
    upload: (file, uploading = {}) =>
      uploadFile(
        file,
        uploading,
        async (path, piece, signal) => (await put(path, piece, UploadState, signal)).bytes,
      ),
  };
}

/** What owners read. */
function looking({
  get,
}: Requests): Pick<HttpApi, "status" | "checks" | "sessions" | "latestMessages" | "usage" | "why" | "trace"> {
  return {
    status: () => get("/api/status", Status),
    checks: async ({ models = false } = {}) =>
      (await get(models ? "/api/checks?models=1" : "/api/checks", RemoteChecks)).checks,
    sessions: async () => (await get("/api/sessions", SessionList)).sessions,
    latestMessages: async (sessionKey) => {
      const query = sessionKey === undefined ? "" : `?${new URLSearchParams({ session: sessionKey })}`;
      return (await get(`/api/messages${query}`, MessageList)).messages;
    },
    usage: ({ by, days }) => {
      const query = new URLSearchParams({ by, ...(days !== undefined && { days: String(days) }) });
      return get(`/api/usage?${query}`, Usage);
    },
    why: (messageId, language = "en") =>
      get(`/api/why/${encodeURIComponent(messageId)}?language=${language}`, Why),
    trace: (messageId) => get(`/api/trace/${encodeURIComponent(messageId)}`, Trace),
  };
}

type Deciding =
  | "pairings"
  | "approvePairing"
  | "revokePairing"
  | "approvals"
  | "answerApproval"
  | "schedules"
  | "addSchedule"
  | "removeSchedule"
  | "runSchedule"
  | "trust";

/** What owners decide about. */
function deciding({ get, post, tell }: Requests): Pick<HttpApi, Deciding> {
  return {
    pairings: () => get("/api/pairings", PairingList),
    approvePairing: (code) => {
      const body: PairingApproval = { code };
      return post("/api/pairings/approve", body, PairedPerson);
    },
    revokePairing: ({ channel, account, peer }) => tell("/api/pairings/revoke", { channel, account, peer }),
    approvals: async () => (await get("/api/approvals", ApprovalList)).approvals,
    answerApproval: async (id, answer) => {
      const body: ApprovalAnswer = { answer };
      return tell(`/api/approvals/${encodeURIComponent(id)}`, body);
    },
    schedules: async () => (await get("/api/schedules", ScheduleList)).schedules,
    addSchedule: (wanted) => post("/api/schedules", wanted, ScheduleAnswer),
    removeSchedule: async (id) => tell(`/api/schedules/${encodeURIComponent(id)}/remove`, {}),
    runSchedule: async (id) =>
      (await post(`/api/schedules/${encodeURIComponent(id)}/run`, {}, ScheduleRun)).outcome,
    trust: (file) => post("/api/trust", file, TrustAnswer),
  };
}
