import type { LiveEvent, Problem } from "@signalbox/protocol";

/** What people are told of a run that failed, by the rule it ended with. */
export function failureNote(rule: string | undefined): string {
  switch (rule) {
    case "poison":
      return "Your message made me stop working several times, so I set it aside. Please put it another way.";
    case "no_agent":
      return "The agent of this conversation cannot work any more.";
    case "internal":
      return "Sorry, something went wrong inside the gateway. Its log says what.";
    default:
      return `Sorry, I could not answer: ${publicReason(rule)}`;
  }
}

/** Why a model failed, in words that give no detail of the operator's set-up away. */
function publicReason(code: string | undefined): string {
  switch (code) {
    case "auth":
    case "billing":
      return "the model's provider refuses this gateway's account. Its operator has to look at it.";
    case "budget":
      return "the budget for it is used up. /usage says when it begins anew.";
    case "rate_limit":
    case "overloaded":
      return "the model's provider is overloaded. Please try again in a while.";
    case "overflow":
      return "this conversation is longer than the model can take. Start a new one with /new.";
    case "network":
    case "timeout":
      return "the model's provider cannot be reached. Please try again in a while.";
    default:
      return "the model's provider answered with an error. Please try again.";
  }
}

/** What viewers are told of a run that failed, ahead of its end. */
export function failureEvent(runId: string, failure: Failure): LiveEvent {
  return { type: "error", runId, ...problemOf(failure) };
}

/** Why a run failed, with what the owner can do about it. */
export function problemOf({ code, message }: Failure): Problem {
  return { code, message, ...remedyFor(code) };
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** What the owner can do about it. */
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
