import type { LoadedConfig, Problem } from "@signalbox/config";
import type { Agents } from "../agents.ts";
import { isSetupToken } from "./claude.ts";

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

/** Warns about setup tokens of Claude plans that are configured as API keys. Anthropic refuses such requests. */
export function setupTokenProblems(loaded: LoadedConfig): Problem[] {
  return Object.entries(loaded.config.models.providers).flatMap(([name, { apiKey = [] }]) => {
    if (![apiKey].flat().some(isSetupToken)) return [];
    return loaded.problem(["models", "providers", name, "apiKey"], {
      severity: "warning",
      message: "is the setup token of a Claude plan, not an API key",
      remedy: `Replace it with \`subscription: claude\`, and run \`signalbox models login ${name}\`.`,
    });
  });
}
