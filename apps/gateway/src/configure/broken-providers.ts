import type { LoadedConfig } from "@signalbox/config";

/**
 * Providers whose entry was left out, since something in it is wrong. Nothing revives them: what was meant for an
 * address of the entry's must not go to the vendor's own, with a key of the environment.
 */
export function brokenProviders({
  problems,
  config,
}: Pick<LoadedConfig, "problems" | "config">): readonly string[] {
  const named = problems.map(({ path }) => /^models\.providers\.([^.[]+)/.exec(path)?.[1]);
  return named
    .filter((name) => name !== undefined)
    .filter((name) => !Object.hasOwn(config.models.providers, name));
}
