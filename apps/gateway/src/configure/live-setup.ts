import type { Config, LoadedConfig } from "@signalbox/config";
import type { Setup } from "./create-setup.ts";

/** A configuration with its resolved setup. */
export interface Applied<Resolved extends Setup = Setup> {
  readonly loaded: LoadedConfig;
  readonly resolved: Resolved;
}

/**
 * The configuration that applies now. A view of it, or of what was derived from it, always shows the current state, so
 * no one has to be notified of a change.
 */
export interface LiveSetup<Resolved extends Setup = Setup> {
  readonly loaded: LoadedConfig;
  /** Its parts are views; its accounts change by themselves. */
  readonly resolved: Resolved;
  readonly config: () => Config;
  /** A view of something derived from the configuration, which is rebuilt when that changes. */
  derived<T extends object>(make: (applied: Applied<Resolved>) => T): T;
  /** From now on this one applies. */
  apply(next: Applied<Resolved>): void;
}

export function createLiveSetup<Resolved extends Setup>(first: Applied<Resolved>): LiveSetup<Resolved> {
  let current = first;
  const makers: (() => void)[] = [];
  const derived = <T extends object>(make: (applied: Applied<Resolved>) => T): T => {
    let value = make(current);
    makers.push(() => {
      value = make(current);
    });
    return viewOf(() => value);
  };
  return {
    loaded: viewOf(() => current.loaded),
    resolved: {
      ...first.resolved,
      agents: viewOf(() => current.resolved.agents),
      models: viewOf(() => current.resolved.models),
      skills: viewOf(() => current.resolved.skills),
      plugins: viewOf(() => current.resolved.plugins),
      pointHooks: viewOf(() => current.resolved.pointHooks),
      secrets: viewOf(() => current.resolved.secrets),
    },
    config: () => current.loaded.config,
    derived,
    apply(next) {
      current = next;
      for (const make of makers) make();
    },
  };
}

/** An object that is another one at each look. */
function viewOf<T extends object>(now: () => T): T {
  return new Proxy(now(), {
    get(_, name) {
      const target = now();
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
