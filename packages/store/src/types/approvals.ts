import type { ApprovalBody, ApprovalState, Bodies } from "./common.ts";

/** The state of a question. */
export interface ApprovalChange extends Pick<ApprovalBody, "approver" | "grant" | "decidedAt"> {
  readonly state: ApprovalState;
}

/** Questions to people about single tool calls, with what they decided and when. */
export interface ApprovalStore<T extends Bodies = Bodies> {
  /**
   * Stores a new question. `open`: the same question waits for a decision in its session; `full`: `most` questions do;
   * `taken`: its id is in use.
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
  /** Changes a question in the state `from`, and returns it; undefined if someone else was faster. */
  change(id: string, from: ApprovalState, to: ApprovalChange): Promise<T["approval"] | undefined>;
  /** The newest first. Default: all states, at most 100. */
  list(filter?: {
    readonly states?: readonly ApprovalState[];
    readonly limit?: number;
  }): Promise<readonly T["approval"][]>;
}
