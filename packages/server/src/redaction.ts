import { type Redact, redactErrors } from "@signalbox/redaction";
import type { LiveHub } from "./live/hub.ts";
import type { Outcome } from "./service.ts";

/** What viewers are told of failures, without secrets. */
export function liveWithRedaction(live: LiveHub, redact: Redact): LiveHub {
  const explained = redactErrors(redact);
  return {
    ...live,
    publish: (sessionKey, event) =>
      live.publish(
        sessionKey,
        event.type === "error" ? { ...event, message: explained(event.message) } : event,
      ),
  };
}

/** What clients that wait are told of failures, without secrets. */
export function redactedOutcome(outcome: Outcome, redact: Redact): Outcome {
  const { error } = outcome;
  if (error === undefined) return outcome;
  return { ...outcome, error: { ...error, message: redactErrors(redact)(error.message) } };
}
