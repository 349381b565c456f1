import type { Trace } from "@signalbox/protocol";
import type { Mismatch, RouteExplanation, TierReport } from "@signalbox/routing";

type Entry = Trace["entries"][number];

/**
 * Adds every tier that was tried to the routing entry of a trace.
 *
 * @param explanation computed with the current configuration
 * @returns the trace, with `decidedNow` if the current configuration no longer leads to `route`
 */
export function withRouteExplained(
  trace: Trace,
  { tiers, session, cache, route: now }: RouteExplanation,
  route: { readonly agentId: string; readonly sessionKey: string } | undefined,
): Trace {
  const moved = route !== undefined && (now.agentId !== route.agentId || now.sessionKey !== route.sessionKey);
  const explained = {
    tiers: tiers.map((tier) => ({ tier: tier.tier, outcome: tier.outcome, reason: reasonOf(tier) })),
    session: session.reason,
    cache: cache.source,
    digest: cache.digest,
    decidedNow: moved ? { agent: now.agentId, session: now.sessionKey } : undefined,
  };
  const entries = trace.entries.map(
    (entry): Entry =>
      entry.stage === "admit" ? { ...entry, data: { ...recordOf(entry.data), ...explained } } : entry,
  );
  return { ...trace, entries };
}

/** Returns a line for each entry of a trace, and a line for each tier that was tried below the routing entry. */
export function whyLines({ entries }: Trace): { readonly stage: string; readonly summary: string }[] {
  return entries.flatMap(({ stage, summary, data }) => [{ stage, summary }, ...routingLines(stage, data)]);
}

function routingLines(stage: string, data: unknown): { readonly stage: string; readonly summary: string }[] {
  const { tiers, session, cache, decidedNow } = recordOf(data);
  if (stage !== "admit" || !Array.isArray(tiers)) return [];
  const tried = tiers
    .map(recordOf)
    .filter(({ outcome }) => outcome !== "not_reached")
    .map(({ tier, reason }) => `  ${String(tier)}: ${String(reason)}`);
  const { agent, session: key } = recordOf(decidedNow);
  return [
    ...tried,
    `  session: ${String(session)}`,
    `  cache: ${cache === "none" ? "not in it" : `in ${cache === "memory" ? "memory" : "the database"}`}`,
    ...(agent === undefined
      ? []
      : [`  the configuration has changed: now agent ${String(agent)}, session ${String(key)}`]),
  ].map((summary) => ({ stage, summary }));
}

function reasonOf({ reason, tried, bindings }: TierReport): string {
  if (tried.length === 0) return reason;
  const told = tried.map(
    ({ bindingIndex, mismatches }) => `${bindingIndex} ${mismatches.map(wants).join(", ")}`,
  );
  const more = bindings > tried.length ? `; ${bindings - tried.length} more` : "";
  return `${reason} Not: ${told.join("; ")}${more}.`;
}

function wants({ field, wanted }: Mismatch): string {
  return `(wants ${field} ${wanted})`;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? { ...value } : {};
}
