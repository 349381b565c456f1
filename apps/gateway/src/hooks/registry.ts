import { reasonOf } from "@signalbox/agent-core";
import { createHooks, type UncheckedHook } from "@signalbox/hooks";
import type { Logger } from "@signalbox/telemetry/logger";
import { type GatewayHook, type GatewayHooks, HOOK_POINTS } from "./points.ts";

const CONSEQUENCES = {
  ignored: "a hook failed; nothing depends on it",
  skipped: "a hook failed; its change is left out",
  denied: "a gate failed, so it denies",
} as const;

/**
 * The gateway's `own` hooks, those of its configuration and those of its host.
 *
 * @throws TypeError where a hook names a point that does not exist
 */
export function createGatewayHooks(
  hooks: readonly GatewayHook[],
  logger: Logger,
  own: readonly GatewayHook[] = [],
  configured: () => readonly UncheckedHook[] = () => [],
): GatewayHooks {
  return createHooks({
    points: HOOK_POINTS,
    hooks,
    own,
    unchecked: configured,
    onFailure: ({ hook, point, error, consequence }) =>
      logger.error({ hook, point, err: reasonOf(error) }, CONSEQUENCES[consequence]),
  });
}
