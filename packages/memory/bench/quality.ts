import type { QuestionSet } from "./questions.ts";
import { RIVALS } from "./rivals.ts";

/** How often a right text comes first, and is among the first five and ten. */
export async function measureQuality(...sets: readonly QuestionSet[]): Promise<void> {
  for (const { name, texts, questions } of sets) {
    console.log(`\n${name}: ${questions.length} questions over ${texts.length} texts`);
    for (const rival of RIVALS) {
      const opened = await rival.open(texts);
      const within = [1, 5, 10].map((places) => ({ places, right: 0 }));
      for (const { text, answers } of questions) {
        const rank = (await opened.search(text)).findIndex((place) => answers.includes(place));
        for (const count of within) if (rank >= 0 && rank < count.places) count.right += 1;
      }
      await opened.close();
      const shares = within.map(({ places, right }) => `@${places} ${(right / questions.length).toFixed(4)}`);
      console.log(`  ${rival.name.padEnd(16)} recall ${shares.join("  ")}`);
    }
  }
}
