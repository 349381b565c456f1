/** Arguments of the longer texts, in any language. */

/** A language of the texts. */
export type Language = "en" | "zh";

export interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

export interface StatusFacts {
  readonly version: string;
  readonly upMs: number;
  readonly agent: NamedAgent;
  /** `provider/model`. */
  readonly model: string;
  readonly thinking: string;
  readonly messages: number;
  readonly isRunning: boolean;
  readonly waiting: number;
  readonly queueMode: string;
  /** Work that waits for an owner. Absent for other people. */
  readonly forOwner?: { readonly calls: number; readonly skills: number };
}

export type RoleName = "owner" | "member" | "guest" | "system";

export interface PlaceFacts {
  readonly id: string;
  /** `direct`, `group`, … */
  readonly kind: string;
}

export interface WhoamiFacts {
  /** `channel:id`. */
  readonly speaker: string;
  readonly role: RoleName;
  /** The admission rule that let them in. */
  readonly rule: string;
  readonly agent: NamedAgent;
  readonly conversation: PlaceFacts;
  readonly sessionKey: string;
}

/** Usage. Absent figures count as 0. */
export interface UsedTotals {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Millionths of a US dollar. */
  readonly costMicros: number;
}

export interface BudgetFacts {
  readonly of: "sender" | "agent" | "channel" | "all";
  /** Id of the sender, agent or channel. Absent if each has a separate budget. */
  readonly name?: string;
  readonly roles?: readonly string[];
  readonly per: "day" | "month";
  readonly unit: "micros" | "tokens";
  readonly limit: number;
  readonly left: number;
  /** Time of the next reset, in milliseconds since the epoch. */
  readonly until: number;
}

/** A tool call that needs approval. All texts are escaped for display. */
export interface QuestionFacts {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  readonly reason: string;
  /** The sentence of `requestedBy`. */
  readonly requester?: string;
  /** The action, as a separate block. */
  readonly action: string;
  readonly program?: string;
  readonly folder?: string;
  readonly hosts: readonly string[];
  readonly files: readonly string[];
  /** `NAME=value` */
  readonly environment: readonly string[];
  /** False if program, folder or environment are omitted, because they are the same for every call. */
  readonly isComplete: boolean;
  /** Time at which the request expires, as text. */
  readonly until: string;
  /** Commands that decide it. Empty if the message has buttons. */
  readonly answers: readonly string[];
}

/** The person for whom a tool call is made. All texts are escaped for display. */
export interface RequesterFacts {
  readonly person: string;
  /** True if no message of the person started the run, but for instance a schedule. */
  readonly isAutomatic: boolean;
  /** Name of the platform's channel, for instance `telegram`. */
  readonly channel: string;
  /** Title or id of the conversation. Absent for a direct chat. */
  readonly conversation?: string;
}

/** The fields of a message that an explanation mentions. */
export interface Concerned {
  readonly channel: string;
  readonly conversation: string;
  readonly sender: string;
}

/** Replies that were given up, by account (`channel/account`). */
export type GivenUpCounts = readonly {
  /** `dead`, `uncertain` or `expired`. */
  readonly state: string;
  readonly account: string;
  readonly count: number;
}[];

/** A trigger that was ignored because its platform accepts only replies. */
export interface NotTriggeredFacts {
  /** Name of the platform. */
  readonly platform: string;
  /** `channel/account`. */
  readonly place: string;
  /** Time after a person's message in which the platform accepts messages, in milliseconds. */
  readonly windowMs: number;
  /** Id of the ignored message. */
  readonly id: string;
}

/** A period in which an account may have missed messages. */
export interface MissedFacts {
  /** `channel/account`. */
  readonly place: string;
  /** Times in ISO 8601. */
  readonly from: string;
  readonly to: string;
}

/** An MCP server in a list for an owner. */
export interface McpServerFacts {
  readonly name: string;
  readonly state: "not started" | "starting" | "ready" | "down";
  readonly needsSignIn: boolean;
  readonly notes: readonly string[];
}

/** The result of a sign-out. */
export interface McpSignedOutFacts {
  readonly wasSignedIn: boolean;
  /** The service confirmed that it revoked the access. */
  readonly isRevoked: boolean;
}
