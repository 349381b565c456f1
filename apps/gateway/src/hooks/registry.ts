import { reasonOf } from "@signalbox/agent-core";
import { type Redact, redactErrors } from "@signalbox/redaction";
import { type GatewayHook, type GatewayHooks, HOOK_POINTS } from "./hook-points.ts";
import { createHooks } from "./hooks.ts";
import type { UncheckedHook } from "./point-types.ts";

export interface GatewayHooksOptions {
  /** The gateway's own hooks. They run first and see every field. */
  readonly own: readonly GatewayHook[];
  /** Hooks that the host program registered. */
  readonly hooks: readonly GatewayHook[];
  /** Hooks of the current configuration. */
  readonly configured: () => readonly UncheckedHook[];
  readonly redact: Redact;
  readonly logger: { error(fields: object, message: string): void };
}

const CONSEQUENCES = {
  ignored: "a hook failed and was ignored",
  skipped: "a hook failed, so its change was skipped",
  denied: "a blocking hook failed, so it denies",
} as const;

/**
 * Creates the gateway's hook registry. Secrets are redacted from failures before they are reported to third-party
 * hooks.
 *
 * @throws TypeError if a hook names an unknown point
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
