import { type Phrases, phrasesIn } from "@signalbox/phrases";
import { z } from "zod";
import { isAtLeast } from "../run-state.ts";
import type { Role } from "../types.ts";

/** A question of an agent to the person it works for, and its outcome. */
export interface Inquiry {
  /** Eight letters and digits that a person can type: the same whenever the same call asks. */
  readonly id: string;
  readonly sessionKey: string;
  /** Who is asked, by an id that never changes. */
  readonly speaker: string;
  /** What the person might do when they were asked: the run continues with these rights. */
  readonly role: Role;
  readonly question: string;
  /** Answers to choose from. Empty: in their own words. */
  readonly options: readonly string[];
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Absent while it is open. */
  readonly end?: InquiryEnd;
}

/**
 * - `answered`: by the message of this id.
 * - `passed-over`: they have written something that is no answer, which comes to the agent by itself.
 * - `expired`: nobody has answered in time.
 * - `stopped`: whoever asked waits no more.
 */
export type InquiryEnd =
  | { readonly kind: "answered"; readonly text: string; readonly messageId: string }
  | { readonly kind: "passed-over" | "expired" | "stopped" };

const end = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("answered"), text: z.string(), messageId: z.string() }),
  z.object({ kind: z.enum(["passed-over", "expired", "stopped"]) }),
]);

/** An inquiry as it is kept. */
export const keptInquiry: z.ZodType<Inquiry> = z.object({
  id: z.string(),
  sessionKey: z.string(),
  speaker: z.string(),
  role: z.enum(["owner", "member", "guest", "system"]),
  question: z.string(),
  options: z.array(z.string()),
  expiresAt: z.number(),
  end: end.exactOptional(),
});

/** Whether a person may answer: with fewer rights than when they were asked, they would steer what they may not. */
export function mayAnswer(inquiry: Pick<Inquiry, "speaker" | "role">, speaker: string, role: Role): boolean {
  return inquiry.speaker === speaker && isAtLeast(role, inquiry.role);
}

/** What a person means by their words: an option by its number or its text, else the words. */
export function readAnswer(words: string, options: readonly string[]): string {
  const typed = words.trim();
  const byNumber = /^[1-9]\d?$/.test(typed) ? options[Number(typed) - 1] : undefined;
  return byNumber ?? options.find((option) => option.toLowerCase() === typed.toLowerCase()) ?? typed;
}

/** The question in words, with a number before each option. */
export function inquiryText(
  { question, options }: Pick<Inquiry, "question" | "options">,
  phrases: Phrases = phrasesIn("en"),
): string {
  if (options.length === 0) return question;
  const lines = options.map((option, index) => `${index + 1}. ${option}`);
  return `${question}\n\n${lines.join("\n")}\n\n${phrases.byNumber}`;
}

const LABEL_CHARS = 40;

/** The answers to choose from, as buttons have them. */
export function inquiryChoices(
  options: readonly string[],
): readonly { readonly label: string; readonly answer: string }[] {
  return options.map((text, index) => ({
    label: text.length <= LABEL_CHARS ? text : `${text.slice(0, LABEL_CHARS - 1)}…`,
    answer: String(index + 1),
  }));
}

/** What replaces the buttons when the inquiry is over. */
export function inquiryEnding(end: InquiryEnd, phrases: Phrases = phrasesIn("en")): string {
  switch (end.kind) {
    case "answered":
      return phrases.answered(end.text);
    case "passed-over":
    case "stopped":
      return phrases.needsNoAnswer;
    case "expired":
      return phrases.nobodyAnswered;
  }
}
