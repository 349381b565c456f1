import type { ToolPolicy } from "./policy.ts";
import type { Role } from "./types.ts";

/** What applies to a run right now, for hosts whose rules may change during a run. */
export interface InForce {
  readonly policy: ToolPolicy;
  /** The weakest current role of the people who speak in the run. */
  readonly role: Role;
}

/** Undefined: a person who speaks in the run may no longer ask for anything here. */
export type LooksUpInForce = () => Promise<InForce | undefined>;
