import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { LiveEvent, Problem } from "@signalbox/protocol";

/**
 * Returns the text that senders get about a failed run, by the rule with which it ended. Omits details of the
 * operator's setup.
 */
export function failureNote(rule: string | undefined, { failed }: Phrases = phrasesIn("en")): string {
  switch (rule) {
    case "poison":
      return failed.poison;
    case "no_agent":
      return failed.noAgent;
    case "internal":
      return failed.internal;
    case "auth":
    case "billing":
      return failed.account;
    case "budget":
      return failed.budget;
    case "rate_limit":
      return failed.rateLimit;
    case "overloaded":
      return failed.overloaded;
    case "invalid":
      return failed.invalid;
    case "overflow":
      return failed.overflow;
    case "network":
    case "timeout":
      return failed.unreachable;
    default:
      return failed.model;
  }
}

/** Returns the event that viewers get before the end of a failed run. */
export function failureEvent(runId: string, failure: Failure): LiveEvent {
  return { type: "error", runId, ...problemOf(failure) };
}

/** Returns the reason why a run failed, with a remedy for the owner. */
export function problemOf({ code, message }: Failure): Problem {
  return { code, message, ...remedyFor(code) };
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Returns the remedy for an error code, if any. */
function remedyFor(code: string): { remedy?: string } {
  switch (code) {
    case "auth":
    case "billing":
      return { remedy: "Check the provider's apiKey under models.providers, and its account." };
    case "rate_limit":
    case "overloaded":
    case "network":
    case "timeout":
      return { remedy: "Try again in a while, or give the agent fallbacks." };
    case "budget":
      return { remedy: "Wait until it begins anew, or raise it under budgets." };
    case "overflow":
      return { remedy: "Start a new conversation, or send /compact." };
    default:
      return {};
  }
}
