import type { ApprovalState, Bodies, ApprovalStore as StoredApprovals } from "@signalbox/store/types";
import type { ApprovalSubject, TaintMark } from "./types.ts";

/**
 * The person for whom a call is made, and the conversation. All texts are escaped for display and shortened, because
 * anyone can choose a name.
 */
export interface Requester {
  /** `channel:id`. */
  readonly id: string;
  readonly name?: string | undefined;
  /** True if no message of the person started the run, but for instance a schedule. */
  readonly isAutomatic?: boolean | undefined;
  readonly channel: string;
  readonly conversation: {
    /** `direct`, `group` or `channel`. */
    readonly kind: string;
    readonly id: string;
    readonly title?: string | undefined;
  };
}

/** A request to approve one tool call. */
export interface ApprovalRequest {
  readonly tool: string;
  readonly subject: ApprovalSubject;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The reason why the call needs approval, including the taint sources. */
  readonly reason: string;
  readonly taint: readonly TaintMark[];
  /** Not part of the hash, because people change their names. */
  readonly requester?: Requester | undefined;
}

/** An approval request and its decision. */
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

interface ApprovalBodies extends Bodies {
  readonly approval: Approval;
}

/** Stores approval requests and their decisions. `@signalbox/store` provides one. */
export type ApprovalStore = StoredApprovals<ApprovalBodies>;
