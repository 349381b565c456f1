import { decide, indexBindings } from "./decide.ts";
import { configDigest, routeDigest } from "./digest.ts";
import { explainTiers, type RouteExplanation, sessionReason } from "./explain.ts";
import { readIdentityLinks } from "./identity-links.ts";
import { mismatches } from "./match.ts";
import type { PeerKind } from "./peer.ts";
import { isResetDue, type ResetTimes, resetPolicyFor } from "./reset.ts";
import type { Route } from "./route.ts";
import { RouteCache, type RouteCacheStore, type RouterClock } from "./route-cache.ts";
import { sessionOf } from "./session.ts";
import { formatSessionKey } from "./session-key.ts";
import { TIERS } from "./tiers.ts";
import type { RouteInput, RoutingConfig } from "./types.ts";

export interface RouterOptions {
  /** Keeps routes over a restart. Default: nothing does. */
  readonly cache?: RouteCacheStore;
  /** Default: timers of the platform that do not keep the process alive. */
  readonly clock?: RouterClock;
  /** Routes kept in memory. Default 10,000; 0 keeps none. */
  readonly maxRoutes?: number;
  /** Told when the durable cache fails. Default: nothing. */
  readonly onCacheError?: (error: unknown) => void;
}

/** Routes messages by one configuration, which is copied: to change it, make another router. */
export interface Router {
  /** Digest of the configuration. */
  readonly digest: string;
  /** Where a message goes. Never throws, waits for nothing. */
  resolve(input: RouteInput): Route;
  /** Why. `limit` bounds the bindings listed in a tier, default 10. */
  explain(input: RouteInput, options?: { readonly limit?: number }): RouteExplanation;
  /** Whether a conversation of this kind starts afresh with a message that arrives now. */
  resetDue(kind: PeerKind, at: ResetTimes): boolean;
  /**
   * Loads the newest routes of this configuration from the durable cache, 2,000 at most, and removes those of other
   * configurations; gives the number of those loaded.
   */
  warm(): Promise<number>;
  /** Writes what waits to be written to the durable cache. */
  flush(): Promise<void>;
}

/** A configuration by which nothing can be routed. */
export class RoutingConfigError extends Error {
  override readonly name = "RoutingConfigError";
}

/**
 * Makes a router. Bindings to agents that do not exist are passed over, as `checkBindings` reports.
 *
 * @throws RoutingConfigError where the default agent is not one of the agents.
 */
export function createRouter(configuration: RoutingConfig, options: RouterOptions = {}): Router {
  // Explanations read it later, so what the caller changes afterwards must not show.
  const config = structuredClone(configuration);
  const { bindings, defaultAgent, dmScope = "per-channel-peer" } = config;
  const agents = new Set(config.agents);
  if (!agents.has(defaultAgent)) {
    throw new RoutingConfigError(
      `The default agent ${JSON.stringify(defaultAgent)} is not one of the agents: ${config.agents.join(", ")}`,
    );
  }
  const digest = configDigest(config);
  const identities = readIdentityLinks(config.identityLinks);
  const index = indexBindings(bindings.map((binding, place) => ({ index: place, binding })));
  const cache = new RouteCache({
    store: options.cache,
    config: digest,
    maxRoutes: options.maxRoutes ?? 10_000,
    clock: options.clock,
    onError: options.onCacheError,
  });

  const sessionKeyOf = (agentId: string, input: RouteInput): string =>
    formatSessionKey(sessionOf(agentId, input, dmScope, identities));

  function compute(input: RouteInput): Route {
    const decision = decide(index, input, agents);
    const agentId = decision?.binding.agent ?? defaultAgent;
    const sessionKey = sessionKeyOf(agentId, input);
    return decision === undefined
      ? { agentId, sessionKey, matchedBy: "default" }
      : { agentId, sessionKey, matchedBy: decision.tier, bindingIndex: decision.index };
  }

  /** A route from the durable cache, if it is one that this configuration could have given this message. */
  function checked(stored: unknown, input: RouteInput): Route | undefined {
    if (typeof stored !== "object" || stored === null) return undefined;
    const { agentId, sessionKey, matchedBy, bindingIndex }: Record<string, unknown> = { ...stored };
    if (typeof agentId !== "string" || sessionKey !== sessionKeyOf(agentId, input)) return undefined;
    if (matchedBy === "default" && bindingIndex === undefined && agentId === defaultAgent) {
      return { agentId, sessionKey, matchedBy };
    }
    const tier = TIERS.find((name) => name === matchedBy);
    if (tier === undefined || typeof bindingIndex !== "number") return undefined;
    const binding = bindings[bindingIndex];
    if (binding?.agent !== agentId || mismatches(binding, input, tier, agents).length > 0) return undefined;
    return { agentId, sessionKey, matchedBy: tier, bindingIndex };
  }

  function resolve(input: RouteInput): Route {
    const key = routeDigest(digest, input);
    const entry = cache.get(key);
    if (entry?.source === "memory") return entry.route;
    const stored = checked(entry?.route, input);
    const route = Object.freeze(stored ?? compute(input));
    cache.keep(key, route);
    if (stored === undefined) cache.write(key, route);
    return route;
  }

  function explain(input: RouteInput, { limit = 10 }: { readonly limit?: number } = {}): RouteExplanation {
    const key = routeDigest(digest, input);
    const entry = cache.peek(key);
    const usable = entry?.source === "memory" || checked(entry?.route, input) !== undefined;
    const route = compute(input);
    const isPersonal = input.peer.kind === "direct" && dmScope !== "main";
    const linkedTo = isPersonal ? identities.personOf(input.channel, input.peer.id) : undefined;
    return {
      input,
      route,
      tiers: explainTiers(config, agents, input, route, limit),
      session: {
        dmScope,
        ...(linkedTo === undefined ? {} : { linkedTo }),
        reason: sessionReason(input, dmScope, linkedTo),
      },
      cache: { source: entry !== undefined && usable ? entry.source : "none", digest: key, config: digest },
    };
  }

  return {
    digest,
    resolve,
    explain,
    resetDue: (kind, at) => isResetDue(resetPolicyFor(config.reset, kind), at),
    warm: () => cache.warm(),
    flush: () => cache.flush(),
  };
}
