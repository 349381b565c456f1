import type { LoadedConfig, Problem } from "@signalbox/config";
import { missingProvider } from "@signalbox/memory/agents";

/** A provider that there is not: the memory goes on by words alone. */
export function embeddingsProblems({ config, problem }: LoadedConfig): Problem[] {
  const { enabled, embeddings } = config.memory;
  const provider = enabled ? missingProvider(embeddings, config.models.providers) : undefined;
  if (provider === undefined) return [];
  return [
    problem(["memory", "embeddings"], {
      severity: "error",
      message: `there is no provider ${provider} with a baseUrl`,
      remedy: "Add it to models.providers, or use none.",
      disables: "search of the memory by meaning",
    }),
  ];
}
