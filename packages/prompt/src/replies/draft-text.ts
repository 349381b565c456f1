import { composeReply } from "./compose.ts";

/** A reply that is being written. */
export interface ReplyInProgress {
  /** Returns the texts of the completed turns. */
  completedTexts(): readonly string[];
  /** Returns the visible text of the current turn. */
  currentText(): string;
}

/**
 * Returns the visible text of a reply so far.
 *
 * @param alreadySent texts that the message tool has delivered to this conversation
 * @param carries true if attachments are sent with the reply, so that the text does not mention them
 */
export function getDraftText(
  reply: ReplyInProgress,
  alreadySent: readonly string[],
  carries = false,
): string {
  const { text } = composeReply(reply.completedTexts(), "complete", alreadySent, carries);
  const current = reply.currentText();
  // The model may be about to repeat what the message tool has sent.
  const repeats = alreadySent.some((sent) => sent.startsWith(current.trim()));
  return [text, repeats ? "" : current].filter((part) => part !== "").join("\n\n");
}
