import { type Outcome, redactOutcome } from "@signalbox/server";
import type { InboxId } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";

/** Notifies everyone who is waiting for a message of its outcome. */
export function reportOutcome(
  { outcomes, subAgents, redact }: GatewayContext,
  id: InboxId,
  outcome: Outcome,
): void {
  outcomes.settle(id, redactOutcome(outcome, redact));
  subAgents.ended(id);
}
