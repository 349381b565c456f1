import { reasonOf } from "@signalbox/agent-core";
import { type Redact, redactErrors } from "@signalbox/redaction";
import { type GatewayHook, type GatewayHooks, HOOK_POINTS } from "./hook-points.ts";
import { createHooks } from "./hooks.ts";
import type { UncheckedHook } from "./point-types.ts";

export interface GatewayHooksOptions {
  /** The gateway's own hooks, which are told everything and come first. */
  readonly own: readonly GatewayHook[];
  /** Those of the program that the gateway runs in. */
  readonly hooks: readonly GatewayHook[];
  /** Those of the configuration, as they are at the moment. */
  readonly configured: () => readonly UncheckedHook[];
  readonly redact: Redact;
  readonly logger: { error(fields: object, message: string): void };
}

const CONSEQUENCES = {
  ignored: "a hook failed and was ignored",
  skipped: "a hook failed, so its change was skipped",
  denied: "a gate hook failed, so it denies",
} as const;

/**
 * The hooks of a gateway. Other people's code is told of failures without the secrets in them.
 * @throws TypeError if a hook names a point that does not exist
 */
export function createGatewayHooks(options: GatewayHooksOptions): GatewayHooks {
  const { own, hooks, configured, redact, logger } = options;
  return createHooks({
    points: HOOK_POINTS,
    own,
    hooks: hooks.map((hook) => (hook.point === "run_end" ? withRedaction(hook, redact) : hook)),
    unchecked: () => configured().map((hook) => withRedaction(hook, redact)),
    onFailure: ({ hook, point, error, consequence }) =>
      logger.error({ hook, point, err: reasonOf(error) }, CONSEQUENCES[consequence]),
  });
}

function withRedaction<Hook extends UncheckedHook>(hook: Hook, redact: Redact): Hook {
  return {
    ...hook,
    run: (payload: object, signal: AbortSignal) => hook.run(withCleanError(payload, redact), signal),
  };
}

function withCleanError(ended: object, redact: Redact): object {
  const error = "error" in ended ? ended.error : undefined;
  if (typeof error !== "object" || error === null || !("message" in error)) return ended;
  return { ...ended, error: { ...error, message: redactErrors(redact)(String(error.message)) } };
}
