import type { MessageOutcome } from "@signalbox/client";

/** Outcomes by which messages are filtered. */
export const OUTCOMES = [
  "open",
  "answered",
  "unanswered",
  "failed",
] as const satisfies readonly MessageOutcome[];

/** Search parameters of the page with the messages. */
export interface MessagesSearch {
  /** Key of a session. */
  session?: string;
  outcome?: MessageOutcome;
  channel?: string;
  agent?: string;
  text?: string;
}

/** Maximum length of a search parameter. */
const MAX_LENGTH = 600;

/** Validates the search parameters of the URL. Invalid parameters are ignored. */
export function readMessagesSearch(search: Record<string, unknown>): MessagesSearch {
  const outcome = OUTCOMES.find((each) => each === search["outcome"]);
  const found: MessagesSearch = outcome === undefined ? {} : { outcome };
  for (const name of ["session", "channel", "agent", "text"] as const) {
    const value = search[name];
    // The router parses a text such as `42` as a number.
    if ((typeof value === "string" || typeof value === "number") && value !== "")
      found[name] = String(value).slice(0, MAX_LENGTH);
  }
  return found;
}
