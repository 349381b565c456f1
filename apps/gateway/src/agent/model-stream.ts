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
 * Wraps a vendor's stream. Events first have secrets removed, and then the call is paid for. The agent loop validates
 * every event of the result (`ValidatedStream` in agent-core).
 *
 * @param ask asks a person to extend a budget, if a person can decide
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
