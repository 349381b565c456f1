import { type Redact, redactErrors, redactJson } from "@signalbox/redaction";
import type { AnyStore, Bodies } from "@signalbox/store";

/** Subject of an approval request. */
interface AskedSubject {
  readonly action: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly rules?: readonly (readonly string[])[];
}

/** Bodies of a store whose approval requests have a subject. */
export type AskingBodies = Bodies & { readonly approval: { readonly subject: AskedSubject } };

/** Wraps the store so that reasons, errors, approval requests and traces are redacted, since they may quote secrets. */
export function storeWithRedaction<T extends AskingBodies>(store: AnyStore<T>, redact: Redact): AnyStore<T> {
  const { inbox, runs, outbox, approvals, traces } = store;
  const redactError = redactErrors(redact);
  return {
    ...store,
    inbox: {
      ...inbox,
      settle: (id, state, detail) =>
        inbox.settle(
          id,
          state,
          detail?.reason === undefined ? detail : { ...detail, reason: redactError(detail.reason) },
        ),
    },
    runs: {
      ...runs,
      finish: (input) =>
        runs.finish(input.error === undefined ? input : { ...input, error: redactError(input.error) }),
    },
    outbox: {
      ...outbox,
      retryAt: (id, lease, at, error) => outbox.retryAt(id, lease, at, error && redactError(error)),
      uncertain: (id, lease, error) => outbox.uncertain(id, lease, error && redactError(error)),
      dead: (id, lease, error, word) => outbox.dead(id, lease, error && redactError(error), word),
    },
    approvals: {
      ...approvals,
      // The hash still identifies the original request.
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

function redactedSubject(subject: AskedSubject, redact: Redact): AskedSubject {
  const { action, env, rules } = subject;
  const clean = Object.entries(env ?? {}).map(([name, value]) => [name, redact(value)]);
  return {
    ...subject,
    action: redact(action),
    // A rule with a redacted secret never matches.
    ...(rules === undefined ? {} : { rules: rules.map((words) => words.map(redact)) }),
    ...(env === undefined ? {} : { env: Object.fromEntries(clean) }),
  };
}
