import { WentBack } from "./asker.ts";

/** A question. Returns true if a person answered it, and false if it was skipped. */
export type Ask = () => Promise<boolean>;

/**
 * Asks questions in order. If the person goes back, the last answered question is asked again.
 *
 * @throws WentBack if the person goes back from the first question
 */
export async function askInOrder(questions: readonly Ask[]): Promise<void> {
  const answered: number[] = [];
  for (let at = 0; at < questions.length; ) {
    try {
      if (await questions[at]?.()) answered.push(at);
      at += 1;
    } catch (error) {
      const before = error instanceof WentBack ? answered.pop() : undefined;
      if (before === undefined) throw error;
      at = before;
    }
  }
}
