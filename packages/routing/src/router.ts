import type { RouteCacheStore } from "@signalbox/store/types";
import { type BindingIndex, decide, indexBindings } from "./decide.ts";
import { digestConfig, digestRoute } from "./digest.ts";
import { explainSession, explainTiers, type RouteExplanation } from "./explain.ts";
import { type Identities, parseIdentityLinks } from "./identity-links.ts";
import { findMismatches } from "./match.ts";
import type { PeerKind } from "./peer.ts";
import { getResetPolicy, isResetDue, type ResetTimes } from "./reset.ts";
import type { Route } from "./route.ts";
import { RouteCache, type RouterClock } from "./route-cache.ts";
import { getSessionKeyParts } from "./session.ts";
import { formatSessionKey } from "./session-key.ts";
import { TIERS } from "./tiers.ts";
import type { Binding, DmScope, RouteInput, RoutingConfig } from "./types.ts";

export interface RouterOptions {
  /** Stores routes across restarts. Default: none. */
  readonly cache?: RouteCacheStore;
  /** Default: `setTimeout`, with timers that do not keep the process alive. */
  readonly clock?: RouterClock;
  /** Maximum number of routes to cache in memory. 0 disables the cache. Default: 10,000. */
  readonly maxRoutes?: number;
  /** Called if the durable cache fails. Routing continues without it. */
  readonly onCacheError?: (error: unknown) => void;
}

/** Routes messages using a copy of one configuration. To change the configuration, create another router. */
export interface Router {
  /** Digest of the configuration. */
  readonly digest: string;
  /** Returns the agent and session for a message. Never throws. */
  resolve(input: RouteInput): Route;
  /** Explains the route of a message. `limit` is the maximum number of bindings listed per tier. Default: 10. */
  explain(input: RouteInput, options?: { readonly limit?: number }): RouteExplanation;
  /** Returns true if a message that arrives now starts a new session in a conversation of this kind. */
  isResetDue(kind: PeerKind, at: ResetTimes): boolean;
  /**
   * Loads this configuration's newest routes from the durable cache, at most 2,000, and removes those of other
   * configurations.
   *
   * @returns the number of loaded routes
   */
  warm(): Promise<number>;
  /** Writes pending routes to the durable cache. */
  flush(): Promise<void>;
}

/** Thrown for a configuration whose default agent does not exist. */
export class RoutingConfigError extends Error {
  override readonly name = "RoutingConfigError";
}

/**
 * Creates a router. Bindings to unknown agents are skipped; `checkBindings` reports them.
 *
 * @throws RoutingConfigError if the default agent is not one of the agents
 * @example
 * ```ts
 * const router = createRouter({
 *   agents: ["main", "coder"],
 *   defaultAgent: "main",
 *   bindings: [{ agent: "coder", match: { channel: "discord", guildId: "G1" } }],
 * });
 * const { agentId, sessionKey } = router.resolve({
 *   channel: "discord",
 *   account: "bot",
 *   guildId: "G1",
 *   peer: { kind: "channel", id: "C7" },
 * });
 * ```
 */
export function createRouter(configuration: RoutingConfig, options: RouterOptions = {}): Router {
  return new BindingRouter(configuration, options);
}

class BindingRouter implements Router {
  // A copy, because explanations read it later and the caller may change the original.
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
    this.digest = digestConfig(this.#config);
    this.#identities = parseIdentityLinks(this.#config.identityLinks);
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
    const key = digestRoute(this.digest, input);
    const entry = this.#cache.get(key);
    if (entry?.source === "memory") return entry.route;
    const stored = this.#verify(entry?.route, input);
    const route = Object.freeze(stored ?? this.#compute(input));
    this.#cache.keep(key, route);
    if (stored === undefined) this.#cache.write(key, route);
    return route;
  }

  explain(input: RouteInput, { limit = 10 }: { readonly limit?: number } = {}): RouteExplanation {
    const key = digestRoute(this.digest, input);
    const entry = this.#cache.peek(key);
    const usable = entry?.source === "memory" || this.#verify(entry?.route, input) !== undefined;
    const route = this.#compute(input);
    const isPersonal = input.peer.kind === "direct" && this.#dmScope !== "main";
    const linkedTo = isPersonal ? this.#identities.findPerson(input.channel, input.peer.id) : undefined;
    return {
      input,
      route,
      tiers: explainTiers(this.#config, this.#agents, input, route, limit),
      session: {
        dmScope: this.#dmScope,
        linkedTo,
        reason: explainSession(input, this.#dmScope, linkedTo),
      },
      cache: {
        source: entry !== undefined && usable ? entry.source : "none",
        digest: key,
        config: this.digest,
      },
    };
  }

  isResetDue(kind: PeerKind, at: ResetTimes): boolean {
    return isResetDue(getResetPolicy(this.#config.reset, kind), at);
  }

  warm(): Promise<number> {
    return this.#cache.warm();
  }

  flush(): Promise<void> {
    return this.#cache.flush();
  }

  #getSessionKey(agentId: string, input: RouteInput): string {
    return formatSessionKey(getSessionKeyParts(agentId, input, this.#dmScope, this.#identities));
  }

  #compute(input: RouteInput): Route {
    const decision = decide(this.#index, input, this.#agents);
    const agentId = decision?.binding.agent ?? this.#defaultAgent;
    const sessionKey = this.#getSessionKey(agentId, input);
    return decision === undefined
      ? { agentId, sessionKey, matchedBy: "default" }
      : { agentId, sessionKey, matchedBy: decision.tier, bindingIndex: decision.index };
  }

  /** Returns a route from the durable cache if this configuration could produce it for this message. */
  #verify(stored: unknown, input: RouteInput): Route | undefined {
    if (typeof stored !== "object" || stored === null) return undefined;
    const { agentId, sessionKey, matchedBy, bindingIndex }: Record<string, unknown> = { ...stored };
    if (typeof agentId !== "string" || sessionKey !== this.#getSessionKey(agentId, input)) return undefined;
    if (matchedBy === "default" && bindingIndex === undefined && agentId === this.#defaultAgent) {
      return { agentId, sessionKey, matchedBy };
    }
    const tier = TIERS.find((name) => name === matchedBy);
    if (tier === undefined || typeof bindingIndex !== "number") return undefined;
    const binding = this.#bindings[bindingIndex];
    if (binding?.agent !== agentId || findMismatches(binding, input, tier, this.#agents).length > 0)
      return undefined;
    return { agentId, sessionKey, matchedBy: tier, bindingIndex };
  }
}
