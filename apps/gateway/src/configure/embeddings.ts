import type { LoadedConfig, Problem } from "@signalbox/config";
import { findMissingProvider } from "@signalbox/memory/agents";
import { brokenProviders } from "./broken-providers.ts";

/** Reports an unknown or invalid embeddings provider. Memory then only supports keyword search. */
export function embeddingsProblems(loaded: LoadedConfig): Problem[] {
  const { config, problem } = loaded;
  const { enabled, embeddings } = config.memory;
  const { providers } = config.models;
  const disabled = brokenProviders(loaded);
  const provider = enabled ? findMissingProvider(embeddings, { providers, disabled }) : undefined;
  if (provider === undefined) return [];
  const isBroken = disabled.includes(provider);
  return [
    problem(["memory", "embeddings"], {
      severity: "error",
      message: isBroken
        ? `the entry of the provider ${provider} has errors`
        : `there is no provider ${provider} with a baseUrl`,
      remedy: isBroken
        ? "Fix it in models.providers, or use none."
        : "Add it to models.providers, or use none.",
      disables: "search of the memory by meaning",
    }),
  ];
}
