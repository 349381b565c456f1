import type { ApprovalSubject, TaintMark } from "./types.ts";

/** What a person is asked to approve. */
export interface ApprovalRequest {
  readonly tool: string;
  readonly subject: ApprovalSubject;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Why it is asked, with the sources of the taint. */
  readonly reason: string;
  readonly taint: readonly TaintMark[];
}

export type ApprovalState = "pending" | "allowed" | "denied" | "used" | "expired";

export interface Approval extends ApprovalRequest {
  /** Eight letters and digits that a person can type. */
  readonly id: string;
  readonly state: ApprovalState;
  /** Over tool, subject, agent and session, as hexadecimal digits. */
  readonly hash: string;
  /** Over `hash`, id, approver and, once it is used, the call that used it; present once someone decided. */
  readonly grant?: string;
  readonly approver?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** When it was allowed or denied. */
  readonly decidedAt?: number;
}

/** The state of a question. */
export interface ApprovalChange extends Pick<Approval, "approver" | "grant" | "decidedAt"> {
  readonly state: ApprovalState;
}

/** `open`: the same question is already open. `full`: too many are open in its session. `taken`: the id is in use. */
type Asked =
  | { readonly outcome: "asked" | "open"; readonly approval: Approval }
  | { readonly outcome: "full"; readonly open: number }
  | { readonly outcome: "taken" };

/** Stores questions and their outcomes. Each method is one transaction. */
export interface ApprovalStore {
  /** Keeps a new question, unless the same is open, or `most` are open in its session. */
  ask(approval: Approval, most: number): Promise<Asked>;
  get(id: string): Promise<Approval | undefined>;
  /** Changes a question in the state `from`, and returns it; undefined if someone else was faster. */
  change(id: string, from: ApprovalState, to: ApprovalChange): Promise<Approval | undefined>;
  /** The newest first. Default: all states, at most 100. */
  list(filter?: {
    readonly states?: readonly ApprovalState[];
    readonly limit?: number;
  }): Promise<readonly Approval[]>;
}

const DEFAULT_LIMIT = 100;
/** How many ended questions are kept. */
const KEPT = 1_000;

/** Kept in memory, for tests and for hosts that need no record. */
export function createMemoryApprovalStore(): ApprovalStore {
  const kept = new Map<string, Approval>();
  const forgetOldest = (): void => {
    for (const { id, state } of kept.values()) {
      if (kept.size <= KEPT) return;
      if (!isOpen(state)) kept.delete(id);
    }
  };
  return {
    async ask(approval, most) {
      const { id, sessionKey, hash } = approval;
      const open = [...kept.values()].filter(
        (other) => other.state === "pending" && other.sessionKey === sessionKey,
      );
      const same = open.find((other) => other.hash === hash);
      if (same !== undefined) return { outcome: "open", approval: same };
      if (open.length >= most) return { outcome: "full", open: open.length };
      if (kept.has(id)) return { outcome: "taken" };
      kept.set(id, approval);
      forgetOldest();
      return { outcome: "asked", approval };
    },
    get: async (id) => kept.get(id),
    async change(id, from, to) {
      const approval = kept.get(id);
      if (approval?.state !== from) return undefined;
      const changed = { ...approval, ...to };
      kept.set(id, changed);
      return changed;
    },
    async list({ states, limit = DEFAULT_LIMIT } = {}) {
      const newest = [...kept.values()].toReversed();
      return newest.filter(({ state }) => states?.includes(state) ?? true).slice(0, limit);
    },
  };
}

/** Whether it still waits, for a decision or for its use. */
function isOpen(state: ApprovalState): boolean {
  return state === "pending" || state === "allowed";
}
