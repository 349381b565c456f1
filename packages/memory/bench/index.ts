// What the memory finds and what that costs. Usage, once built: node bench/index.ts [chunks]

import { measureQuality } from "./quality.ts";
import { chineseQuestions, englishQuestions, twoCharacterWords } from "./questions.ts";
import { measureScale } from "./scale.ts";

const chunks = Number(process.argv[2] ?? 100_000);

await measureQuality(chineseQuestions(), twoCharacterWords(), englishQuestions());
await measureScale(chunks);
