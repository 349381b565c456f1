// Measures what the memory finds and what that costs. Usage, once built: node bench/index.ts [recall | chunks]

import { measureQuality } from "./quality.ts";
import { chineseQuestions, englishQuestions, hasChineseQuestions, twoCharacterWords } from "./questions.ts";
import { measureRecall } from "./recall.ts";
import { measureScale } from "./scale.ts";

const [what] = process.argv.slice(2);
await measureRecall();
if (what !== "recall") {
  const chinese = hasChineseQuestions() ? [chineseQuestions(), twoCharacterWords()] : [];
  await measureQuality(...chinese, englishQuestions());
  await measureScale(Number(what ?? 100_000));
}
