import type { StreamModel } from "@signalbox/agent-core";
import type { AskForGrant, Meter, Spender } from "@signalbox/budgets";
import type { Vault } from "@signalbox/redaction";
import type { AgentModel } from "../configure/models.ts";
import { withRedactedAnswers } from "./redacted-stream.ts";

export interface ModelStreamOptions {
  readonly vault: Pick<Vault, "stream">;
  readonly meter: Meter;
}

/**
 * Wraps the stream of a vendor in the order in which an event passes: secrets are removed, then the call is paid for.
 * The agent loop validates every event of the result (`ValidatedStream` in agent-core).
 *
 * @param ask grants a budget's amount once more, if a person can decide
 */
export function guardModelStream(
  { vault, meter }: ModelStreamOptions,
  agentModel: AgentModel,
  spender: Spender,
  ask?: AskForGrant,
): StreamModel {
  const redacted = redactedModel(vault, agentModel);
  return meter.stream(spender, redacted, ask);
}

/** Returns the model with secrets removed from its stream. */
export function redactedModel(vault: Pick<Vault, "stream">, agentModel: AgentModel): AgentModel {
  return { ...agentModel, stream: withRedactedAnswers(agentModel.stream, vault) };
}
