import { reasonOf } from "@signalbox/agent-core";

/** Result of one check. */
export interface Finding {
  readonly part: string;
  readonly state: "ok" | "warning" | "error";
  readonly detail: string;
  /** How to fix it. */
  readonly remedy?: string;
  /** Does that, where nothing can be lost by it; gives what was done. */
  readonly fix?: () => string;
}

/** Looks at one part: what is thrown is what is wrong with it. */
export async function look(part: string, see: () => Promise<string>, remedy?: string): Promise<Finding> {
  try {
    return { part, state: "ok", detail: await see() };
  } catch (error) {
    return {
      part,
      state: "error",
      detail: reasonOf(error),
      ...(remedy === undefined ? {} : { remedy }),
    };
  }
}
