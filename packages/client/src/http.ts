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
  SESSION_KEY_HEADER,
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
import { ClientError, errorOfAnswer, isClientError } from "./errors.ts";
import { type EventsOptions, readEvents } from "./events.ts";
import { newId } from "./id.ts";
import type { SessionKey } from "./session-key.ts";
import { type UploadOptions, uploadFile } from "./upload.ts";

/** The requests of the HTTP API. Every method rejects with a {@link ClientError}. */
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
  /** Removes a conversation with all that was said in it; code `busy` while a run goes on there. */
  removeConversation(conversation: string): Promise<void>;
  /**
   * The frames of a conversation, as server-sent events: first `subscribed`, then what happens. A stream that breaks
   * off is opened anew and goes on where it was; leaving the loop ends it.
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
  /**
   * What platforms say that accounts lack there; with `models`, each agent's model is called once, too. Owners alone.
   */
  checks(options?: { readonly models?: boolean }): Promise<readonly RemoteCheck[]>;
  /** Those of every channel, the latest first. */
  sessions(): Promise<SessionInfo[]>;
  /** The latest messages of all channels, or of one session. */
  latestMessages(sessionKey?: string): Promise<MessageInfo[]>;
  /** What runs have used that are over, and what is left of budgets. */
  usage(query: UsageQuery): Promise<Usage>;
  /** What became of a message, with the notes of each stage. The words are English unless said otherwise. */
  why(messageId: string, language?: Language): Promise<Why>;
  /** Who waits to be let in, and who was. */
  pairings(): Promise<PairingList>;
  /** Lets in who was sent this code; code `not_found` where no open request has it. */
  approvePairing(code: string): Promise<PairedPerson>;
  /** Makes a stranger of somebody who was let in. */
  revokePairing(person: Person): Promise<void>;
  /** What each stage noted about a message. */
  trace(messageId: string): Promise<Trace>;
  /** Tool calls that wait for somebody's word, the oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /** Answers one; code `not_found` where it is not open any more. */
  answerApproval(id: string, answer: ApprovalAnswer["answer"]): Promise<void>;
  /** What agents are to do by themselves, the soonest first. */
  schedules(): Promise<ScheduleInfo[]>;
  addSchedule(wanted: NewSchedule): Promise<ScheduleAnswer>;
  /** Code `not_found` where there is none. */
  removeSchedule(id: string): Promise<void>;
  /** Has it happen now, beside its times; code `not_found` where there is none. */
  runSchedule(id: string): Promise<ScheduleRun["outcome"]>;
  /** Vouches for a file or folder of an agent's workspace. */
  trust(file: TrustRequest): Promise<TrustAnswer>;
}

export interface HttpOptions {
  base: URL;
  token: string | undefined;
  sessionKey: SessionKey;
  fetch: typeof fetch;
  timeoutMs: number;
}

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

export function createHttpApi(options: HttpOptions): HttpApi {
  const get = async <T>(path: string, schema: Schema<T>): Promise<T> =>
    understood(path, schema, await request(options, "GET", path));
  const understood = <T>(path: string, schema: Schema<T>, { status, body }: Answer): T => {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    throw new ClientError(
      {
        code: "protocol",
        message: `The answer to ${path} is none that this client understands.`,
        remedy: "Check the address, and that gateway and client are of about the same age.",
      },
      status,
    );
  };
  return {
    login: async (token) => {
      const body: LoginRequest = { token };
      const answer = await request(options, "POST", "/api/login", body);
      options.sessionKey.keep(understood("/api/login", SignedIn, answer).sessionKey);
    },
    signInLink: async () => {
      const path = "/api/sign-in-links";
      return understood(path, SignInLink, await request(options, "POST", path, {}));
    },
    logout: async () => {
      await request(options, "POST", "/api/logout", {});
      options.sessionKey.forget();
    },
    me: () => get("/api/me", Me),
    agents: () => get("/api/agents", AgentList),
    conversations: () => get("/api/conversations", ConversationList),
    history: (conversation) =>
      get(`/api/conversations/${encodeURIComponent(conversation)}/messages`, ConversationHistory),
    renameConversation: async (conversation, title) => {
      const body: ConversationTitle = { title };
      await request(options, "POST", `/api/conversations/${encodeURIComponent(conversation)}/rename`, body);
    },
    removeConversation: async (conversation) => {
      await request(options, "POST", `/api/conversations/${encodeURIComponent(conversation)}/remove`, {});
    },
    events: (conversation, reading = {}) =>
      readEvents((after, signal) => openEvents(options, conversation, reading.agent, after, signal), reading),
    send: async ({ conversation, id = newId(), ...message }) => {
      const path = `/api/conversations/${encodeURIComponent(conversation)}/messages`;
      const body: MessageToSend = { id, ...message };
      return understood(path, MessageAccepted, await request(options, "POST", path, body));
    },
    abort: async (conversation, agent) => {
      const body: AbortRequest = agent === undefined ? {} : { agent };
      await request(options, "POST", `/api/conversations/${encodeURIComponent(conversation)}/abort`, body);
    },
    upload: (file, uploading = {}) =>
      uploadFile(file, uploading, async (path, piece, signal) => {
        const type = "application/octet-stream";
        const answer = await exchange(options, path, { method: "PUT", type, body: piece, signal });
        return understood(path, UploadState, answer).bytes;
      }),
    status: () => get("/api/status", Status),
    checks: async ({ models = false } = {}) =>
      (await get(models ? "/api/checks?models=1" : "/api/checks", RemoteChecks)).checks,
    sessions: async () => (await get("/api/sessions", SessionList)).sessions,
    latestMessages: async (sessionKey) => {
      const query = sessionKey === undefined ? "" : `?${new URLSearchParams({ session: sessionKey })}`;
      return (await get(`/api/messages${query}`, MessageList)).messages;
    },
    usage: ({ by, days }) =>
      get(
        `/api/usage?${new URLSearchParams({ by, ...(days !== undefined && { days: String(days) }) })}`,
        Usage,
      ),
    why: (messageId, language = "en") =>
      get(`/api/why/${encodeURIComponent(messageId)}?language=${language}`, Why),
    pairings: () => get("/api/pairings", PairingList),
    approvePairing: async (code) => {
      const path = "/api/pairings/approve";
      const body: PairingApproval = { code };
      return understood(path, PairedPerson, await request(options, "POST", path, body));
    },
    revokePairing: async ({ channel, account, peer }) => {
      await request(options, "POST", "/api/pairings/revoke", { channel, account, peer });
    },
    trace: (messageId) => get(`/api/trace/${encodeURIComponent(messageId)}`, Trace),
    approvals: async () => (await get("/api/approvals", ApprovalList)).approvals,
    answerApproval: async (id, answer) => {
      const body: ApprovalAnswer = { answer };
      await request(options, "POST", `/api/approvals/${encodeURIComponent(id)}`, body);
    },
    schedules: async () => (await get("/api/schedules", ScheduleList)).schedules,
    addSchedule: async (wanted) => {
      const path = "/api/schedules";
      return understood(path, ScheduleAnswer, await request(options, "POST", path, wanted));
    },
    removeSchedule: async (id) => {
      await request(options, "POST", `/api/schedules/${encodeURIComponent(id)}/remove`, {});
    },
    runSchedule: async (id) => {
      const path = `/api/schedules/${encodeURIComponent(id)}/run`;
      return understood(path, ScheduleRun, await request(options, "POST", path, {})).outcome;
    },
    trust: async (file) =>
      understood("/api/trust", TrustAnswer, await request(options, "POST", "/api/trust", file)),
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function request(
  options: HttpOptions,
  method: "GET" | "POST",
  path: string,
  json?: unknown,
): Promise<Answer> {
  const body = json === undefined ? undefined : JSON.stringify(json);
  return exchange(options, path, { method, type: "application/json", body });
}

interface Exchange {
  readonly method: "GET" | "POST" | "PUT";
  /** Of the body. */
  readonly type: string;
  readonly body: string | Blob | undefined;
  readonly signal?: AbortSignal | undefined;
}

async function exchange(
  options: HttpOptions,
  path: string,
  { method, type, body, signal }: Exchange,
): Promise<Answer> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = type;
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const ends = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  try {
    const response = await fetchFrom(options, path, { method, headers, signal: ends, body });
    const answer = parse(await response.text());
    if (!response.ok) throw errorOfAnswer(response.status, answer);
    return { status: response.status, body: answer };
  } catch (error) {
    throw isClientError(error) ? error : unreachable(options, error);
  }
}

async function openEvents(
  options: HttpOptions,
  conversation: string,
  agent: string | undefined,
  after: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const query = agent === undefined ? "" : `?${new URLSearchParams({ agent })}`;
  const path = `/api/conversations/${encodeURIComponent(conversation)}/events${query}`;
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (after !== undefined) headers["last-event-id"] = after;
  const response = await fetchFrom(options, path, { method: "GET", headers, signal, body: undefined });
  if (!response.ok) throw errorOfAnswer(response.status, parse(await response.text()));
  if (response.body === null)
    throw new ClientError({ code: "protocol", message: "The answer is no stream." });
  return response.body;
}

interface Fetching {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body: string | Blob | undefined;
}

/** One request, as whoever this client is. */
function fetchFrom(
  options: HttpOptions,
  path: string,
  { method, headers, signal, body }: Fetching,
): Promise<Response> {
  return options.fetch(new URL(path, options.base), {
    method,
    headers: { ...headers, ...credentials(options) },
    credentials: "same-origin",
    redirect: "error",
    signal,
    ...(body !== undefined && { body }),
  });
}

/** A program's token, or what a browser sends beside its cookie. */
function credentials({ token, sessionKey }: HttpOptions): Record<string, string> {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  const key = sessionKey.value;
  return key === undefined ? {} : { [SESSION_KEY_HEADER]: key };
}

function unreachable(options: HttpOptions, cause: unknown): ClientError {
  if (cause instanceof Error && cause.name === "TimeoutError") {
    const seconds = options.timeoutMs / 1000;
    const message = `The gateway at ${options.base.origin} did not answer within ${seconds} s.`;
    return new ClientError({ code: "timeout", message }, undefined, cause);
  }
  const message = `The gateway at ${options.base.origin} cannot be reached.`;
  return new ClientError(
    { code: "network", message, remedy: "Check that it runs and that the address is right." },
    undefined,
    cause,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
