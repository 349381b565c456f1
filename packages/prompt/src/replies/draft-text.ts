import { composeReply } from "./compose.ts";

/** An answer that is being written. */
export interface AnswerSoFar {
  /** What the turns said that are over. */
  ended(): readonly string[];
  /** What people may see of the turn that is being written. */
  current(): string;
}

/**
 * What people may see of the answer so far. `alreadySent` are texts that the message tool has delivered. `carries`:
 * attachments are sent with it, so it does not name them.
 */
export function draftText(answer: AnswerSoFar, alreadySent: readonly string[], carries = false): string {
  const { text } = composeReply(answer.ended(), "complete", alreadySent, carries);
  const current = answer.current();
  // It may be about to say again what the tool has said already.
  const repeats = alreadySent.some((sent) => sent.startsWith(current.trim()));
  return [text, repeats ? "" : current].filter((part) => part !== "").join("\n\n");
}
