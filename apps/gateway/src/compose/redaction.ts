import type { UncheckedHook } from "@signalbox/hooks";
import { type Redact, redactBeginning, redactJson } from "@signalbox/redaction";
import type { LiveHub, Outcome } from "@signalbox/server";
import type { ApprovalSubject } from "@signalbox/tools";
import type { GatewayHook } from "../hooks/points.ts";
import type { GatewayStore } from "../store.ts";

/** Of an error, in UTF-16 units: the beginning says what it was. */
const LONGEST_ERROR = 8_000;

/** The store with every text that explains something passed through `redact`: errors quote what they were given. */
export function storeWithRedaction(store: GatewayStore, redact: Redact): GatewayStore {
  const { inbox, runs, outbox, approvals, traces } = store;
  const explained = redactBeginning(redact, LONGEST_ERROR);
  return {
    ...store,
    inbox: {
      ...inbox,
      settle: (id, state, detail) =>
        inbox.settle(
          id,
          state,
          detail?.reason === undefined ? detail : { ...detail, reason: explained(detail.reason) },
        ),
    },
    runs: {
      ...runs,
      finish: (input) =>
        runs.finish(input.error === undefined ? input : { ...input, error: explained(input.error) }),
    },
    outbox: {
      ...outbox,
      retryAt: (id, lease, at, error) => outbox.retryAt(id, lease, at, error && explained(error)),
      uncertain: (id, lease, error) => outbox.uncertain(id, lease, error && explained(error)),
      dead: (id, lease, error, word) => outbox.dead(id, lease, error && explained(error), word),
    },
    approvals: {
      ...approvals,
      // What was asked for is told by its hash.
      ask: (approval, most) =>
        approvals.ask({ ...approval, subject: redactedSubject(approval.subject, redact) }, most),
    },
    traces: {
      ...traces,
      append: (subject, entries) =>
        traces.append(
          subject,
          entries.map((entry) => {
            const data = redactJson(entry.data, redact);
            return data === entry.data ? entry : { ...entry, data };
          }),
        ),
    },
  };
}

function redactedSubject(subject: ApprovalSubject, redact: Redact): ApprovalSubject {
  const { action, env, rules } = subject;
  const clean = Object.entries(env ?? {}).map(([name, value]) => [name, redact(value)]);
  return {
    ...subject,
    action: redact(action),
    // A rule with a secret in it covers nothing.
    ...(rules === undefined ? {} : { rules: rules.map((words) => words.map(redact)) }),
    ...(env === undefined ? {} : { env: Object.fromEntries(clean) }),
  };
}

/** What viewers are told of failures. */
export function liveWithRedaction(live: LiveHub, redact: Redact): LiveHub {
  const explained = redactBeginning(redact, LONGEST_ERROR);
  return {
    ...live,
    publish: (sessionKey, event) =>
      live.publish(
        sessionKey,
        event.type === "error" ? { ...event, message: explained(event.message) } : event,
      ),
  };
}

/** What code of the host is told of failures. */
export function hooksWithRedaction(hooks: readonly GatewayHook[], redact: Redact): GatewayHook[] {
  return hooks.map((hook) => (hook.point === "run_end" ? withRedaction(hook, redact) : hook));
}

/** The same of one hook, at whichever point it is. */
export function withRedaction<Hook extends UncheckedHook>(hook: Hook, redact: Redact): Hook {
  return {
    ...hook,
    run: (payload: object, signal: AbortSignal) => hook.run(withCleanError(payload, redact), signal),
  };
}

function withCleanError(ended: object, redact: Redact): object {
  const error = "error" in ended ? ended.error : undefined;
  if (typeof error !== "object" || error === null || !("message" in error)) return ended;
  const message = redactBeginning(redact, LONGEST_ERROR)(String(error.message));
  return { ...ended, error: { ...error, message } };
}

/** What clients that wait are told of failures. */
export function redactedOutcome(outcome: Outcome, redact: Redact): Outcome {
  const { error } = outcome;
  if (error === undefined) return outcome;
  return { ...outcome, error: { ...error, message: redactBeginning(redact, LONGEST_ERROR)(error.message) } };
}
