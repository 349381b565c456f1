import type { InterruptedRun } from "@signalbox/store";
import type { Waiting } from "./lane.ts";
import type { GatewayBodies, StoredInbound } from "./stored.ts";

/** A message on its way to a run. */
export interface MessageTicket extends Waiting {
  readonly kind: "message";
  readonly agentId: string;
  readonly stored: StoredInbound;
  /** Accepted by an earlier process: its run may have been what ended that process. */
  readonly recovered: boolean;
}

/** A run that an earlier process began and that is to go on. */
export interface ResumeTicket extends Waiting {
  readonly kind: "resume";
  readonly agentId: string;
  readonly interrupted: InterruptedRun<GatewayBodies>;
}

/** What waits in a lane. */
export type Ticket = MessageTicket | ResumeTicket;
