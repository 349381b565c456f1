export type {
  BudgetFacts,
  Concerned,
  GivenUpCounts,
  PlaceFacts,
  QuestionFacts,
  StatusFacts,
  UsedTotals,
  WhoamiFacts,
} from "./facts.ts";
export { type Language, languageOf, phrasesFor, phrasesIn } from "./language.ts";
export type { Phrases } from "./phrases.ts";
