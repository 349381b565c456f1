import { LRUCache } from "lru-cache";
import { byChannel, type Compiled, compileAccount, decide } from "./compile.ts";
import { configDigest, inputKey, routeDigest } from "./digest.ts";
import { compare, explainTiers } from "./explain.ts";
import { isResetDue, resetPolicyFor } from "./reset.ts";
import { DurableRoutes } from "./route-cache.ts";
import { compileLinks, formatSessionKey, sessionParts } from "./session-key.ts";
import { TIERS } from "./tiers.ts";
import type { Route, RouteExplanation, RouteInput, Router, RouterOptions, RoutingConfig } from "./types.ts";

const NOTHING: Compiled = { size: 0, tiers: [] };

/** Ids as long as this are not an ordinary platform's: routes of such messages are not kept in memory. */
const MAX_KEY = 1_024;

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
  // Compiled as messages come, so what the caller changes afterwards must not show.
  const config = structuredClone(configuration);
  const { bindings, defaultAgent, dmScope = "per-channel-peer" } = config;
  const agents = new Set(config.agents);
  if (!agents.has(defaultAgent)) {
    throw new RoutingConfigError(
      `The default agent ${JSON.stringify(defaultAgent)} is not one of the agents: ${config.agents.join(", ")}`,
    );
  }
  const { maxRoutes = 10_000, maxCompiled = 2_000 } = options;
  const digest = configDigest(config);
  const links = compileLinks(config.identityLinks);
  const channels = byChannel(bindings, agents);
  const compiled = new LRUCache<string, Compiled>({ max: Math.max(1, maxCompiled) });
  const routes = maxRoutes > 0 ? new LRUCache<string, Route>({ max: maxRoutes }) : undefined;
  const durable =
    options.cache && new DurableRoutes(options.cache, digest, options.clock, options.onCacheError);

  function compiledFor(input: RouteInput): Compiled {
    const channel = channels.get(input.channel);
    if (channel === undefined || (channel.exact.size === 0 && channel.patterns.length === 0)) return NOTHING;
    const key = `${input.channel.length}:${input.channel}${input.account}`;
    let found = compiled.get(key);
    if (found === undefined) {
      found = compileAccount(channel, input.account, bindings);
      compiled.set(key, found);
    }
    return found;
  }

  function work(input: RouteInput): Route {
    const found = decide(input, channels.get(input.channel)?.everyAccount ?? NOTHING, compiledFor(input));
    const binding = found && bindings[found.index];
    const agentId = binding?.agent ?? defaultAgent;
    const sessionKey = formatSessionKey(sessionParts(agentId, input, dmScope, links));
    return found === undefined
      ? { agentId, sessionKey, matchedBy: "default" }
      : { agentId, sessionKey, matchedBy: found.tier, bindingIndex: found.index };
  }

  /** A route from the durable cache, if it is one that this configuration could have given this message. */
  function checked(stored: unknown, input: RouteInput): Route | undefined {
    if (typeof stored !== "object" || stored === null) return undefined;
    const { agentId, sessionKey, matchedBy, bindingIndex }: Record<string, unknown> = { ...stored };
    if (typeof agentId !== "string" || !agents.has(agentId)) return undefined;
    if (sessionKey !== formatSessionKey(sessionParts(agentId, input, dmScope, links))) return undefined;
    if (matchedBy === "default" && bindingIndex === undefined && agentId === defaultAgent) {
      return { agentId, sessionKey, matchedBy };
    }
    const tier = TIERS.find((one) => one === matchedBy);
    if (tier === undefined || typeof bindingIndex !== "number") return undefined;
    const binding = bindings[bindingIndex];
    if (binding?.agent !== agentId || compare(binding, input, tier, agents).length > 0) return undefined;
    return { agentId, sessionKey, matchedBy: tier, bindingIndex };
  }

  function resolve(input: RouteInput): Route {
    const key = inputKey(input);
    const known = routes?.get(key);
    if (known !== undefined) return known;
    let route: Route | undefined;
    if (durable === undefined) {
      route = work(input);
    } else {
      const row = routeDigest(digest, key);
      route = checked(durable.get(row), input);
      durable.forget(row);
      if (route === undefined) {
        route = work(input);
        durable.put(row, route);
      }
    }
    Object.freeze(route);
    if (key.length <= MAX_KEY) routes?.set(key, route);
    return route;
  }

  function explain(input: RouteInput, { limit = 10 }: { readonly limit?: number } = {}): RouteExplanation {
    const key = inputKey(input);
    const row = routeDigest(digest, key);
    const source = routes?.has(key) ? "memory" : checked(durable?.get(row), input) ? "store" : "none";
    const route = work(input);
    const person = input.peer.kind === "direct" ? links.find(input.channel, input.peer.id) : undefined;
    const linkedTo = dmScope === "main" ? undefined : person;
    return {
      input,
      route,
      tiers: explainTiers(config, agents, input, route, limit),
      session: {
        dmScope,
        ...(linkedTo === undefined ? {} : { linkedTo }),
        reason: sessionReason(input, dmScope, linkedTo),
      },
      cache: {
        source,
        digest: row,
        config: digest,
        compiled: {
          everyAccount: channels.get(input.channel)?.everyAccount.size ?? 0,
          thisAccount: compiledFor(input).size,
        },
      },
    };
  }

  return {
    digest,
    resolve,
    explain,
    resetDue: (kind, at) => isResetDue(resetPolicyFor(config.reset, kind), at),
    warm: async () => (await durable?.warm(maxCompiled)) ?? 0,
    flush: async () => durable?.flush(),
  };
}

function sessionReason(input: RouteInput, scope: string, person: string | undefined): string {
  if (input.peer.kind !== "direct") return `Every ${input.peer.kind} has a session of its own.`;
  if (person !== undefined) return `${input.channel}:${input.peer.id} is linked to ${person}.`;
  return `Direct messages are kept apart by dmScope ${scope}.`;
}
