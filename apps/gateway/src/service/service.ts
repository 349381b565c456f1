import type { MediaRef, ReadBody, TurnRequest, TurnSampling } from "@signalbox/channel";
import type {
  AgentInfo,
  ApprovalInfo,
  ChatMessage,
  ConversationInfo,
  Status,
  Trace,
} from "@signalbox/protocol";
import type { PruneReport } from "@signalbox/store";
import type { LiveHub, RunEnd } from "./live.ts";

/** Begins the name of a conversation of which the gateway gets to see one request only. */
export const ONCE = "once:";

/** A message from a client that holds the gateway's token. */
export interface Submission {
  readonly channel: "web" | "api";
  readonly agent: string;
  /** Names the conversation; for the OpenAI surface, the peer. */
  readonly conversation: string;
  /** Made by the client; the same id again is the same message. */
  readonly id: string;
  readonly text: string;
  /** Where the text comes from, if it is not the words of who holds the token: it taints the turn, and orders nothing. */
  readonly from?: string;
  /** What the client wants the agent to heed in this turn. */
  readonly instructions?: string;
  /** Earlier turns of a conversation the client keeps itself; seeds a conversation that is new here. */
  readonly history?: TurnRequest["history"];
  readonly sampling?: TurnSampling;
  /** The text is for the model alone, also where it begins with a slash. */
  readonly verbatim?: boolean;
  readonly media?: readonly MediaRef[];
}

/** How a message ended. */
export interface Outcome {
  readonly state: "replied" | "silent" | "failed" | "aborted" | "ignored";
  readonly runId?: string;
  /** The visible reply. */
  readonly text: string;
  /** Whether the model's output limit cut it. */
  readonly truncated?: boolean;
  readonly usage?: RunUsage;
  readonly error?: { readonly code: string; readonly message: string };
}

/** What a run consumed; token counts are 0 where the vendor did not say. */
export interface RunUsage {
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
  | { readonly kind: "refused"; readonly code: "full" | "no_agent" | "stopping"; readonly message: string };

/** What the HTTP surface needs of the gateway. */
export interface GatewayService {
  readonly version: string;
  readonly live: LiveHub;
  agents(): readonly AgentInfo[];
  submit(submission: Submission): Promise<Submitted>;
  /** Stops the running turn of a conversation and leaves out what waits; false where there is neither. */
  abort(channel: "web" | "api", agent: string, conversation: string): boolean;
  /** Whether a turn runs, or messages wait for one, in a session. */
  busy(sessionKey: string): boolean;
  /** How the last run of a session ended, since the start. */
  lastRun(sessionKey: string): { readonly runId: string; readonly outcome: RunEnd } | undefined;
  /** The session a conversation of a client has with an agent. */
  sessionKey(channel: "web" | "api", agent: string, conversation: string): string;
  conversations(): Promise<ConversationInfo[]>;
  messages(conversation: string): Promise<ChatMessage[] | undefined>;
  /** By the gateway's or the platform's id of the message. */
  trace(messageId: string): Promise<Trace | undefined>;
  /** Tool calls that wait for somebody's word, the oldest first. */
  approvals(): Promise<ApprovalInfo[]>;
  /** Answers one; false where it is not open any more. `approver` is who says so. */
  answerApproval(id: string, answer: "allow" | "deny", approver: string): Promise<boolean>;
  status(): Promise<Status>;
  /** For Prometheus, with the content type of its format. */
  metrics(): Promise<{ readonly contentType: string; readonly body: string }>;
  /** Removes what is over its time or number. */
  prune(): Promise<PruneReport>;
  /** Gives free pages of the database back; several calls at once are one. */
  vacuum(): Promise<{ readonly freedBytes: number }>;
  /** Looks at the outbox, where somebody else has changed rows. */
  outboxChanged(): void;
  /** Whether messages are taken. */
  ready(): boolean;
  /** Hands a platform's request to its channel account; `undefined` where there is no such account. */
  webhook(channel: string, account: string, request: Request, read?: ReadBody): Promise<Response | undefined>;
}
