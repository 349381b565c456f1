import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { z } from "zod";
import { isAtLeast } from "../run-state.ts";
import type { Role } from "../types.ts";

/** A question that an agent asked the person whom it works for. */
export interface UserQuestion {
  /**
   * Eight letters and digits that a person can type. The id is derived from the call, so a repeated call has the same
   * id.
   */
  readonly id: string;
  readonly sessionKey: string;
  /** Immutable id of the person who is asked. */
  readonly speaker: string;
  /** The person's role when the question was created. The run continues with the rights of this role. */
  readonly role: Role;
  readonly question: string;
  /** Suggested answers. Empty if the person answers in their own words. */
  readonly options: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Absent while the question is open. */
  readonly outcome?: UserQuestionOutcome;
}

/**
 * - `answered`: the message with this id answered the question.
 * - `passed_over`: the person sent something else, which reaches the agent as an ordinary message.
 * - `expired`: there was no answer in time.
 * - `stopped`: the run that created the question no longer waits.
 */
export type UserQuestionOutcome =
  | { readonly kind: "answered"; readonly text: string; readonly messageId: string }
  | { readonly kind: "passed_over" | "expired" | "stopped" };

const outcomeSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answered"), text: z.string(), messageId: z.string() }),
  z.object({ kind: z.enum(["passed_over", "expired", "stopped"]) }),
]);

/** Validates a stored question. */
export const userQuestionSchema: z.ZodType<UserQuestion> = z.object({
  id: z.string(),
  sessionKey: z.string(),
  speaker: z.string(),
  role: z.enum(["owner", "member", "guest", "system"]),
  question: z.string(),
  options: z.array(z.string()),
  expiresAt: z.number(),
  outcome: outcomeSchema.optional(),
});

/**
 * Returns true if a person may answer. A person whose role was lowered in the meantime may not, because the run
 * continues with the rights of the original role.
 */
export function mayAnswer(
  question: Pick<UserQuestion, "speaker" | "role">,
  speaker: string,
  role: Role,
): boolean {
  return question.speaker === speaker && isAtLeast(role, question.role);
}

/** Returns the option that a person chose by number or by its text. Otherwise returns their own words. */
export function readAnswer(words: string, options: readonly string[]): string {
  const typed = words.trim();
  const byNumber = /^[1-9]\d?$/.test(typed) ? options[Number(typed) - 1] : undefined;
  return byNumber ?? options.find((option) => option.toLowerCase() === typed.toLowerCase()) ?? typed;
}

/** Formats a question for a chat, with its options as a numbered list. */
export function formatUserQuestion(
  { question, options }: Pick<UserQuestion, "question" | "options">,
  phrases: Phrases = phrasesIn("en"),
): string {
  if (options.length === 0) return question;
  const lines = options.map((option, index) => `${index + 1}. ${option}`);
  return `${question}\n\n${lines.join("\n")}\n\n${phrases.byNumber}`;
}

const MAX_LABEL_CHARS = 40;

/** Returns the buttons for a question's options. Pressing a button answers with the option's number. */
export function getAnswerChoices(
  options: readonly string[],
): readonly { readonly label: string; readonly answer: string }[] {
  return options.map((text, index) => ({
    label: text.length <= MAX_LABEL_CHARS ? text : `${text.slice(0, MAX_LABEL_CHARS - 1)}…`,
    answer: String(index + 1),
  }));
}

/** Formats the text that replaces the buttons of a closed question. */
export function formatUserQuestionOutcome(
  outcome: UserQuestionOutcome,
  phrases: Phrases = phrasesIn("en"),
): string {
  switch (outcome.kind) {
    case "answered":
      return phrases.answered(outcome.text);
    case "passed_over":
    case "stopped":
      return phrases.needsNoAnswer;
    case "expired":
      return phrases.nobodyAnswered;
  }
}
