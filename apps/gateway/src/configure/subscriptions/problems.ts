import type { LoadedConfig, Problem } from "@signalbox/config";
import type { Agents } from "../agents.ts";

/** Explains the risk of a subscription. */
export const MAY_END = "The vendor may not permit this access, or may end it at any time";

/**
 * Warns about agents whose model and fallbacks all use subscriptions, because they could not answer if the vendor ended
 * the access.
 *
 * @param defaultReference the model of agents without a configured one
 */
export function subscriptionProblems(
  loaded: LoadedConfig,
  agents: Agents,
  defaultReference: string,
): Problem[] {
  const { providers } = loaded.config.models;
  const usesSubscription = (reference: string): boolean =>
    providers[reference.split("/")[0] ?? ""]?.subscription !== undefined;
  const { list } = loaded.config.agents;
  const exposed = agents.all.filter(({ model = defaultReference, fallbacks }) =>
    [model, ...fallbacks].every(usesSubscription),
  );
  return exposed.flatMap(({ id }) => {
    const index = list.findIndex((agent) => agent.id === id);
    const isOwn = index >= 0 && (list[index]?.model !== undefined || list[index]?.fallbacks !== undefined);
    return loaded.problem(isOwn ? ["agents", "list", index, "model"] : ["agents", "defaults", "model"], {
      severity: "warning",
      message: `the agent ${id} uses only subscriptions. ${MAY_END}; the agent could then not answer`,
      remedy: "Add a model with an API key, or of your own server, to its `fallbacks`.",
    });
  });
}
