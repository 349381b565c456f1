/** What the longer texts are made of, whatever the language. */

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
  readonly sessionKey: string;
  readonly messages: number;
  readonly isRunning: boolean;
  readonly waiting: number;
  readonly queueMode: string;
  /** What waits for an owner; absent for everybody else. */
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
  /** By which the gate let them in. */
  readonly rule: string;
  readonly agent: NamedAgent;
  readonly conversation: PlaceFacts;
  readonly sessionKey: string;
}

/** What was used. Absent figures count as 0. */
export interface UsedTotals {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Millionths of a dollar. */
  readonly costMicros: number;
}

export interface BudgetFacts {
  readonly of: "sender" | "agent" | "channel" | "all";
  /** The one it is for. Absent: each has a budget of its own. */
  readonly name?: string;
  readonly roles?: readonly string[];
  readonly per: "day" | "month";
  readonly unit: "micros" | "tokens";
  readonly limit: number;
  readonly left: number;
  /** When it begins anew, in milliseconds since the epoch. */
  readonly until: number;
}

/** A tool call that waits for an approval, with every text in a form that a person can judge. */
export interface QuestionFacts {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  readonly reason: string;
  /** What would be done, in a block of its own. */
  readonly action: string;
  readonly program?: string;
  readonly folder?: string;
  readonly hosts: readonly string[];
  readonly files: readonly string[];
  /** `NAME=value` */
  readonly environment: readonly string[];
  /** Until when it counts, in words. */
  readonly until: string;
  /** What may be said to it, as commands. */
  readonly answers: readonly string[];
}

/** What an explanation names of a message. */
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
