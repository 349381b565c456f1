import { type Redact, redactErrors } from "@signalbox/redaction";
import type { LiveHub } from "./live/hub.ts";
import type { Outcome } from "./service.ts";

/** Wraps a hub to remove secrets from the error messages that viewers see. */
export function redactLiveErrors(live: LiveHub, redact: Redact): LiveHub {
  const redactMessage = redactErrors(redact);
  return {
    ...live,
    publish: (sessionKey, event) =>
      live.publish(
        sessionKey,
        event.type === "error" ? { ...event, message: redactMessage(event.message) } : event,
      ),
  };
}

/** Removes secrets from the error message of an outcome. */
export function redactOutcome(outcome: Outcome, redact: Redact): Outcome {
  const { error } = outcome;
  if (error === undefined) return outcome;
  return { ...outcome, error: { ...error, message: redactErrors(redact)(error.message) } };
}
