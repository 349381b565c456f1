import type { ApprovalBody, ApprovalState, Bodies } from "./common.ts";

/** A state transition of an approval request. */
export interface ApprovalChange extends Pick<ApprovalBody, "approver" | "grant" | "decidedAt"> {
  readonly state: ApprovalState;
}

/** Approval requests for single tool calls, with their decisions. */
export interface ApprovalStore<T extends Bodies = Bodies> {
  /**
   * Stores a new request. `open`: the same request is already pending in its session; `full`: the session has `most`
   * pending requests; `taken`: the id is in use.
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
  /** Changes a request in the state `from`, and returns it. Returns undefined if another caller was faster. */
  change(id: string, from: ApprovalState, to: ApprovalChange): Promise<T["approval"] | undefined>;
  /** Newest first. Default: all states, at most 100. */
  list(filter?: {
    readonly states?: readonly ApprovalState[];
    readonly limit?: number;
  }): Promise<readonly T["approval"][]>;
}
