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
export { type Language, phrasesFor, phrasesIn } from "./language.ts";
export type { Phrases } from "./phrases.ts";
