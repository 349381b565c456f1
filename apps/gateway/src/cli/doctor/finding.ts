import { reasonOf } from "@signalbox/agent-core";

/** Result of one check. */
export interface Finding {
  readonly part: string;
  readonly state: "ok" | "warning" | "error";
  readonly detail: string;
  /** Remedy for the problem. */
  readonly remedy?: string;
  /** Applies the remedy, if it cannot lose data. Returns a description of the change. */
  readonly fix?: () => string;
}

/** Runs one check. If it throws, the error is reported as its finding. */
export async function runCheck(part: string, see: () => Promise<string>, remedy?: string): Promise<Finding> {
  try {
    return { part, state: "ok", detail: await see() };
  } catch (error) {
    return {
      part,
      state: "error",
      detail: reasonOf(error),
      remedy,
    };
  }
}
