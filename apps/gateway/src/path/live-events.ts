import type { LiveEvent } from "@signalbox/protocol";

/** The id under which people see the `index`-th turn of a run that says something, live and later. */
export function turnId(runId: string, index: number): string {
  return `${runId}.${index}`;
}

/** The id of what is said about a run that did not simply end. */
export function noteId(runId: string): string {
  return `${runId}.end`;
}

/** The id of what the message tool shows to a client. */
export function sentId(callId: string): string {
  return `${callId}.sent`;
}

/** What viewers are told of a run that failed, ahead of its end. */
export function failureEvent({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): LiveEvent {
  return { type: "error", code, message, ...remedyFor(code) };
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
    case "overflow":
      return { remedy: "Start a new conversation, or send /compact." };
    default:
      return {};
  }
}
