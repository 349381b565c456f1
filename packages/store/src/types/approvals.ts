import type { ApprovalBody, ApprovalState, Bodies } from "./common.ts";

/** A state transition of an approval request. */
export interface ApprovalChange extends Pick<ApprovalBody, "approver" | "grant" | "decidedAt"> {
  readonly state: ApprovalState;
}

/** Stores approval requests for single tool calls, and the decisions on them. */
export interface ApprovalStore<T extends Bodies = Bodies> {
  /**
   * Stores a new request. `open`: the same request is already pending in its session. `full`: the session already has
   * `most` pending requests. `taken`: the id is in use.
   */
  ask(
    approval: T["approval"],
    most: number,
  ): Promise<
    | { readonly outcome: "asked" | "open"; readonly approval: T["approval"] }
    | { readonly outcome: "full"; readonly open: number }
    | { readonly outcome: "taken" }
  >;
  get(id: string): Promise<T["approval"] | undefined>;
  /**
   * Changes a request that is in the state `from`, and returns it. Returns undefined if another caller changed it
   * first.
   */
  change(id: string, from: ApprovalState, to: ApprovalChange): Promise<T["approval"] | undefined>;
  /** Returns requests, newest first. Default: all states, at most 100. */
  list(filter?: {
    readonly states?: readonly ApprovalState[];
    readonly limit?: number;
  }): Promise<readonly T["approval"][]>;
}
