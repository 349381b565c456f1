import type { ApprovalSubject, TaintMark } from "./types.ts";

/** A request to approve one tool call. */
export interface ApprovalRequest {
  readonly tool: string;
  readonly subject: ApprovalSubject;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Why the call needs approval, including the sources of the taint. */
  readonly reason: string;
  readonly taint: readonly TaintMark[];
}

export type ApprovalState = "pending" | "allowed" | "denied" | "used" | "expired";

export interface Approval extends ApprovalRequest {
  /** Eight letters and digits that a person can type. */
  readonly id: string;
  readonly state: ApprovalState;
  /** SHA-256 of tool, subject, agent and session in hexadecimal. */
  readonly hash: string;
  /** SHA-256 of `hash`, id, approver and the call that used the approval. Present once someone has decided. */
  readonly grant?: string;
  readonly approver?: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Time of the decision, in milliseconds since the epoch. */
  readonly decidedAt?: number;
}

/** A change of an approval's state. */
export interface ApprovalChange extends Pick<Approval, "approver" | "grant" | "decidedAt"> {
  readonly state: ApprovalState;
}

/**
 * - `open`: the same request is already pending.
 * - `full`: the session already has the maximum number of pending requests.
 * - `taken`: the id is in use.
 */
type AskResult =
  | { readonly outcome: "asked" | "open"; readonly approval: Approval }
  | { readonly outcome: "full"; readonly open: number }
  | { readonly outcome: "taken" };

/** Stores approval requests and their outcomes. Each method is one transaction. */
export interface ApprovalStore {
  /**
   * Stores a new request, unless the same request is pending or the session already has `maxPending` pending requests.
   */
  ask(approval: Approval, maxPending: number): Promise<AskResult>;
  get(id: string): Promise<Approval | undefined>;
  /** Changes an approval that is in the state `from`. Returns undefined if it is in another state. */
  change(id: string, from: ApprovalState, to: ApprovalChange): Promise<Approval | undefined>;
  /** Lists approvals, the newest first. Default: all states, at most 100. */
  list(filter?: {
    readonly states?: readonly ApprovalState[];
    readonly limit?: number;
  }): Promise<readonly Approval[]>;
}

const DEFAULT_LIMIT = 100;
/** Maximum number of approvals that the memory store keeps. Only completed ones are removed. */
const MAX_STORED = 1_000;

/** Creates a store in memory, for tests and for hosts that do not need an audit trail. */
export function createMemoryApprovalStore(): ApprovalStore {
  const approvals = new Map<string, Approval>();
  const removeOldest = (): void => {
    for (const { id, state } of approvals.values()) {
      if (approvals.size <= MAX_STORED) return;
      if (!isOpen(state)) approvals.delete(id);
    }
  };
  return {
    async ask(approval, maxPending) {
      const { id, sessionKey, hash } = approval;
      const open = [...approvals.values()].filter(
        (other) => other.state === "pending" && other.sessionKey === sessionKey,
      );
      const existing = open.find((other) => other.hash === hash);
      if (existing !== undefined) return { outcome: "open", approval: existing };
      if (open.length >= maxPending) return { outcome: "full", open: open.length };
      if (approvals.has(id)) return { outcome: "taken" };
      approvals.set(id, approval);
      removeOldest();
      return { outcome: "asked", approval };
    },
    get: async (id) => approvals.get(id),
    async change(id, from, to) {
      const approval = approvals.get(id);
      if (approval?.state !== from) return undefined;
      const changed = { ...approval, ...to };
      approvals.set(id, changed);
      return changed;
    },
    async list({ states, limit = DEFAULT_LIMIT } = {}) {
      const newest = [...approvals.values()].toReversed();
      return newest.filter(({ state }) => states?.includes(state) ?? true).slice(0, limit);
    },
  };
}

/** Returns true if the approval awaits a decision, or was allowed and has not been used yet. */
function isOpen(state: ApprovalState): boolean {
  return state === "pending" || state === "allowed";
}
