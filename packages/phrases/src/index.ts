export type {
  BudgetFacts,
  Concerned,
  GivenUpCounts,
  Language,
  PlaceFacts,
  QuestionFacts,
  RequesterFacts,
  StatusFacts,
  UsedTotals,
  WhoamiFacts,
} from "./facts.ts";
export { languageOf, phrasesFor, phrasesIn } from "./language.ts";
export type { Phrases } from "./phrases.ts";
