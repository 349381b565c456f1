import type { LoadedConfig } from "@signalbox/config";

/**
 * Returns the providers whose configuration is invalid. They stay disabled even if the environment contains a key,
 * because requests intended for a configured URL must not go to the vendor's default URL.
 */
export function brokenProviders({ problems, config }: LoadedConfig): readonly string[] {
  const named = problems.map(({ path }) => /^models\.providers\.([^.[]+)/.exec(path)?.[1]);
  return named
    .filter((name) => name !== undefined)
    .filter((name) => !Object.hasOwn(config.models.providers, name));
}
