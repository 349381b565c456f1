import type { ToolPolicy } from "./policy.ts";
import type { Role } from "./types.ts";

/** What applies to a run at the moment, where a host's rules may change while it goes on. */
export interface InForce {
  readonly policy: ToolPolicy;
  /** The weakest of those who speak in it, as far as they may by now. */
  readonly role: Role;
}

/** Undefined: somebody who speaks in the run may ask for nothing here any more. */
export type LooksUpInForce = () => Promise<InForce | undefined>;
