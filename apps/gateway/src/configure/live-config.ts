import type { Config, LoadedConfig } from "@signalbox/config";
import type { Setup } from "./create-setup.ts";

/** A configuration file and everything that was resolved from it. */
export interface Applied<Resolved extends Setup = Setup> {
  readonly loaded: LoadedConfig;
  readonly resolved: Resolved;
}

/** The configuration in effect. A reload replaces it as a whole. */
export interface CurrentConfig
  extends Pick<Setup, "agents" | "models" | "skills" | "plugins" | "pointHooks" | "secrets"> {
  readonly loaded: LoadedConfig;
  /** Values from `signalbox.yaml`, with defaults. */
  readonly settings: Config;
}

/**
 * Access to the configuration in effect. Call `current()` each time a value is needed, and do not keep the result
 * across an `await` that may take long, because a reload may replace it.
 */
export interface LiveConfig {
  current(): CurrentConfig;
  /** Returns a getter for a value that is computed once for each version of the configuration. */
  derived<T>(compute: (config: CurrentConfig) => T): () => T;
  /** Replaces the configuration in effect. */
  apply(next: Applied): void;
}

export function createLiveConfig(first: Applied): LiveConfig {
  let current = toCurrentConfig(first);
  return {
    current: () => current,
    derived(compute) {
      let source = current;
      let value = compute(source);
      return () => {
        if (source !== current) {
          source = current;
          value = compute(source);
        }
        return value;
      };
    },
    apply(next) {
      current = toCurrentConfig(next);
    },
  };
}

function toCurrentConfig({ loaded, resolved }: Applied): CurrentConfig {
  const { agents, models, skills, plugins, pointHooks, secrets } = resolved;
  return { loaded, settings: loaded.config, agents, models, skills, plugins, pointHooks, secrets };
}
