import { type BindingIndex, decide, indexBindings } from "./decide.ts";
import { configDigest, routeDigest } from "./digest.ts";
import { explainTiers, type RouteExplanation, sessionReason } from "./explain.ts";
import { type Identities, readIdentityLinks } from "./identity-links.ts";
import { mismatches } from "./match.ts";
import type { PeerKind } from "./peer.ts";
import { isResetDue, type ResetTimes, resetPolicyFor } from "./reset.ts";
import type { Route } from "./route.ts";
import { RouteCache, type RouteCacheStore, type RouterClock } from "./route-cache.ts";
import { sessionOf } from "./session.ts";
import { formatSessionKey } from "./session-key.ts";
import { TIERS } from "./tiers.ts";
import type { Binding, DmScope, RouteInput, RoutingConfig } from "./types.ts";

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
  return new BindingRouter(configuration, options);
}

class BindingRouter implements Router {
  // Explanations read it later, so what the caller changes afterwards must not show.
  readonly #config: RoutingConfig;
  readonly #bindings: readonly Binding[];
  readonly #defaultAgent: string;
  readonly #dmScope: DmScope;
  readonly #agents: Set<string>;
  readonly digest: string;
  readonly #identities: Identities;
  readonly #index: BindingIndex;
  readonly #cache: RouteCache;

  constructor(configuration: RoutingConfig, options: RouterOptions = {}) {
    this.#config = structuredClone(configuration);
    this.#bindings = this.#config.bindings;
    this.#defaultAgent = this.#config.defaultAgent;
    this.#dmScope = this.#config.dmScope ?? "per-channel-peer";
    this.#agents = new Set(this.#config.agents);
    if (!this.#agents.has(this.#defaultAgent)) {
      throw new RoutingConfigError(
        `The default agent ${JSON.stringify(this.#defaultAgent)} is not one of the agents: ${this.#config.agents.join(", ")}`,
      );
    }
    this.digest = configDigest(this.#config);
    this.#identities = readIdentityLinks(this.#config.identityLinks);
    this.#index = indexBindings(this.#bindings.map((binding, place) => ({ index: place, binding })));
    this.#cache = new RouteCache({
      store: options.cache,
      config: this.digest,
      maxRoutes: options.maxRoutes ?? 10_000,
      clock: options.clock,
      onError: options.onCacheError,
    });
  }

  resolve(input: RouteInput): Route {
    const key = routeDigest(this.digest, input);
    const entry = this.#cache.get(key);
    if (entry?.source === "memory") return entry.route;
    const stored = this.#checked(entry?.route, input);
    const route = Object.freeze(stored ?? this.#compute(input));
    this.#cache.keep(key, route);
    if (stored === undefined) this.#cache.write(key, route);
    return route;
  }

  explain(input: RouteInput, { limit = 10 }: { readonly limit?: number } = {}): RouteExplanation {
    const key = routeDigest(this.digest, input);
    const entry = this.#cache.peek(key);
    const usable = entry?.source === "memory" || this.#checked(entry?.route, input) !== undefined;
    const route = this.#compute(input);
    const isPersonal = input.peer.kind === "direct" && this.#dmScope !== "main";
    const linkedTo = isPersonal ? this.#identities.personOf(input.channel, input.peer.id) : undefined;
    return {
      input,
      route,
      tiers: explainTiers(this.#config, this.#agents, input, route, limit),
      session: {
        dmScope: this.#dmScope,
        ...(linkedTo === undefined ? {} : { linkedTo }),
        reason: sessionReason(input, this.#dmScope, linkedTo),
      },
      cache: {
        source: entry !== undefined && usable ? entry.source : "none",
        digest: key,
        config: this.digest,
      },
    };
  }

  resetDue(kind: PeerKind, at: ResetTimes): boolean {
    return isResetDue(resetPolicyFor(this.#config.reset, kind), at);
  }

  warm(): Promise<number> {
    return this.#cache.warm();
  }

  flush(): Promise<void> {
    return this.#cache.flush();
  }

  #sessionKeyOf(agentId: string, input: RouteInput): string {
    return formatSessionKey(sessionOf(agentId, input, this.#dmScope, this.#identities));
  }

  #compute(input: RouteInput): Route {
    const decision = decide(this.#index, input, this.#agents);
    const agentId = decision?.binding.agent ?? this.#defaultAgent;
    const sessionKey = this.#sessionKeyOf(agentId, input);
    return decision === undefined
      ? { agentId, sessionKey, matchedBy: "default" }
      : { agentId, sessionKey, matchedBy: decision.tier, bindingIndex: decision.index };
  }

  /** A route from the durable cache, if it is one that this configuration could have given this message. */
  #checked(stored: unknown, input: RouteInput): Route | undefined {
    if (typeof stored !== "object" || stored === null) return undefined;
    const { agentId, sessionKey, matchedBy, bindingIndex }: Record<string, unknown> = { ...stored };
    if (typeof agentId !== "string" || sessionKey !== this.#sessionKeyOf(agentId, input)) return undefined;
    if (matchedBy === "default" && bindingIndex === undefined && agentId === this.#defaultAgent) {
      return { agentId, sessionKey, matchedBy };
    }
    const tier = TIERS.find((name) => name === matchedBy);
    if (tier === undefined || typeof bindingIndex !== "number") return undefined;
    const binding = this.#bindings[bindingIndex];
    if (binding?.agent !== agentId || mismatches(binding, input, tier, this.#agents).length > 0)
      return undefined;
    return { agentId, sessionKey, matchedBy: tier, bindingIndex };
  }
}
