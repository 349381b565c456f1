import type { HeldPicture, ReadBody, TurnSampling } from "@signalbox/channel";
import type {
  Activity,
  AgentInfo,
  ApprovalAnswer,
  ApprovalInfo,
  ConversationHistory,
  ConversationInfo,
  Language,
  MessageInfo,
  NewSchedule,
  PairedPerson,
  PairingList,
  Person,
  PruneReport,
  RemoteCheck,
  RunOutcome,
  ScheduleAnswer,
  ScheduleInfo,
  ScheduleRun,
  SessionInfo,
  Status,
  Trace,
  TrustAnswer,
  Usage,
  UsageQuery,
  VacuumReport,
  Why,
} from "@signalbox/protocol";
import type { Principal } from "./auth/index.ts";
import type { LiveHub } from "./live/hub.ts";

/** Begins the name of a conversation of which the gateway gets to see one request only. */
export const ONCE = "once:";

/** Whether a conversation belongs to a client without `user`: it asks once, and never comes back to it. */
export function isOneOff({ channel, peer }: { readonly channel: string; readonly peer: string }): boolean {
  return channel === "api" && peer.startsWith(ONCE);
}

/** The ways in: `web` for clients that watch a conversation, `api` for those that wait for one answer. */
export type Surface = "web" | "api";

/** What a client attaches to a message. */
export interface ClientAttachment {
  readonly kind: "image" | "file";
  /** A `data:` URL that holds it, or the `http:` or `https:` URL that it is fetched from. */
  readonly url: string;
  readonly name?: string;
}

/** A file that the client has uploaded. */
export interface UploadedFile {
  readonly id: string;
  readonly name?: string;
  readonly mimeType: string;
  readonly bytes: number;
}

/** A piece of a file, and how much of the file comes before it. */
export interface UploadPiece {
  readonly client: Principal;
  readonly id: string;
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The outcome for a piece; `bytes` is how much of the file is there now. */
export interface UploadResult {
  readonly kind: "added" | "out_of_order" | "too_large" | "full";
  readonly bytes: number;
}

/** An earlier turn of a conversation that the client keeps itself. */
export interface ClientTurn {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Of the client's own: it names no file that is kept here. */
  readonly pictures?: readonly HeldPicture[];
}

/** A message from a client. */
export interface Submission {
  /** Whose token it came with. Default: the gateway's own, which is its owner's. */
  readonly sender?: Principal;
  readonly channel: Surface;
  readonly agent: string;
  /** Names the conversation; for the OpenAI surface, the peer. */
  readonly conversation: string;
  /** Made by the client; the same id again is the same message. */
  readonly id: string;
  readonly text: string;
  readonly attachments?: readonly ClientAttachment[];
  readonly uploads?: readonly UploadedFile[];
  /**
   * Where the text comes from, if it is not the words of who holds the token: it taints the turn, and orders nothing.
   */
  readonly from?: string;
  /** What the client wants the agent to heed in this turn. */
  readonly instructions?: string;
  /** Earlier turns of a conversation the client keeps itself; seeds a conversation that is new here. */
  readonly history?: readonly ClientTurn[];
  readonly sampling?: TurnSampling;
  /** The text is only for the model, even if it begins with a slash. */
  readonly verbatim?: boolean;
}

/** How a message ended. `ignored`: without an answer. */
export interface Outcome {
  readonly state: RunOutcome | "ignored";
  readonly runId?: string;
  /** The visible reply. */
  readonly text: string;
  /** The `finish_reason` of OpenAI's API; default `stop`. */
  readonly finishReason?: "stop" | "length" | "content_filter" | "error";
  readonly usage?: TurnUsage;
  readonly error?: OutcomeError;
}

/** Why a message has no answer. */
export interface OutcomeError {
  /** The model's (`auth`, `billing`, `rate_limit`, `overloaded`, `overflow`, `invalid` …) or the gateway's own. */
  readonly code: string;
  readonly message: string;
  /** When it may go better, in milliseconds from then. */
  readonly retryAfterMs?: number;
}

/** What a run consumed; token counts are 0 where the vendor did not say. */
export interface TurnUsage {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly costMicros?: number;
}

export type Submitted =
  | {
      readonly kind: "accepted" | "duplicate";
      readonly messageId: string;
      readonly sessionKey: string;
      /** Settles when the message has its end state; never rejects. */
      readonly done: Promise<Outcome>;
    }
  | {
      readonly kind: "refused";
      /** `id_taken`: another message was taken under this id before. */
      readonly code: "full" | "no_agent" | "stopping" | "id_taken";
      readonly message: string;
    };

/** What the server needs of the gateway. */
export interface GatewayService {
  readonly version: string;
  readonly live: Pick<LiveHub, "subscribe" | "observe" | "running" | "resume">;
  agents(): readonly AgentInfo[];
  submit(submission: Submission): Promise<Submitted>;
  /** Keeps a piece of a file, which messages of this client may name for a day. */
  upload(piece: UploadPiece): Promise<UploadResult>;
  /** What was answered to a message of the OpenAI surface; undefined where nothing of it is kept for this client. */
  answer(messageId: string, client: Principal): Promise<string | undefined>;
  /**
   * Stops the current run of a conversation and drops what waits; false if there is neither. Its sub-agents are stopped
   * as well.
   */
  abort(channel: Surface, agent: string, conversation: string): Promise<boolean>;
  /** Whether a turn runs, or messages wait for one, in a session. */
  busy(sessionKey: string): boolean;
  /** How the last run of a session ended, since the start. */
  lastRun(sessionKey: string): { readonly runId: string; readonly outcome: RunOutcome } | undefined;
  /** The session a conversation of a client has with an agent. */
  sessionKey(channel: Surface, agent: string, conversation: string): string;
  /** The latest ones whose ids begin so. */
  conversations(prefix: string): Promise<ConversationInfo[]>;
  history(conversation: string): Promise<ConversationHistory | undefined>;
  /** Gives a conversation another title; false if there is none with that id. */
  renameConversation(conversation: string, title: string): Promise<boolean>;
  /** Removes a conversation with everything said in it. `busy`: it has a current run or a working sub-agent. */
  removeConversation(conversation: string): Promise<"removed" | "unknown" | "busy">;
  /** Those of every channel, the latest first. */
  sessions(): Promise<SessionInfo[]>;
  /** The latest messages of all channels, or of one session. */
  latestMessages(sessionKey?: string): Promise<MessageInfo[]>;
  /** What happened to a message, by the gateway's or the platform's id. */
  why(messageId: string, language: Language): Promise<Why | undefined>;
  /** Who waits to be let in, and who was. */
  pairings(): Promise<PairingList>;
  /** Lets in who was sent this code; undefined where no open request has it. */
  approvePairing(code: string, approver: string): Promise<PairedPerson | undefined>;
  /** Unpairs a person who was let in; false if they were not. */
  revokePairing(person: Person, revoker: string): Promise<boolean>;
  /** By the gateway's or the platform's id of the message. */
  trace(messageId: string): Promise<Trace | undefined>;
  /** Tool calls that wait for an approval, the oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /** Answers one; false where it is not open any more. `approver` is who says so. */
  answerApproval(id: string, answer: ApprovalAnswer["answer"], approver: string): Promise<boolean>;
  /** Takes the word of an owner that a file in an agent's workspace may be believed; default: the default agent's. */
  trust(agent: string | undefined, path: string, owner: string): Promise<TrustAnswer>;
  /** What agents are to do by themselves, the soonest first. */
  schedules(): Promise<ScheduleInfo[]>;
  /** Has an agent do something later, in the name of the owner who asks. */
  addSchedule(wanted: NewSchedule): Promise<ScheduleAnswer>;
  /** False if there is none. */
  removeSchedule(id: string): Promise<boolean>;
  /** Triggers it now, in addition to its times. */
  runSchedule(id: string): Promise<ScheduleRun["outcome"] | "unknown">;
  /** The activity of the whole gateway, and what waits. */
  activity(): Promise<Activity>;
  /** What runs have used, and what is left of budgets. */
  usage(query: UsageQuery): Promise<Usage>;
  status(): Promise<Status>;
  /** Asks platforms, and vendors of models where that is wanted, what is wrong on their side. */
  checks(withModels: boolean): Promise<RemoteCheck[]>;
  /** For Prometheus, with the content type of its format. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Removes what is over its time or number. */
  prune(): Promise<PruneReport>;
  /** Gives free pages of the database back; several calls at once are one. */
  vacuum(): Promise<VacuumReport>;
  /** Rereads the outbox after another process has changed rows. */
  outboxChanged(): void;
  /** Whether messages are taken. */
  ready(): boolean;
  /** Passes a platform's request to its channel account; `undefined` if there is no such account. */
  webhook(channel: string, account: string, request: Request, read?: ReadBody): Promise<Response | undefined>;
}
