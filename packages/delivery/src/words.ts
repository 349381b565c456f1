import { type Language, type Phrases, phrasesFor } from "@signalbox/phrases";
import type { OutboxRow } from "./outbox.ts";

/** The language that is set for the conversation of a row, if one is. */
export type LanguageOf = (row: OutboxRow) => Promise<Language | undefined>;

/** The words for whoever was to read rows of one destination: in the language that is set there, else in theirs. */
export async function phrasesOfRows(
  rows: readonly OutboxRow[],
  languageOf: LanguageOf | undefined,
): Promise<Phrases> {
  const [first] = rows;
  // Which words are said is no reason to say none: where it cannot be looked up, those of the reply count.
  const set = first && (await languageOf?.(first).catch(() => undefined));
  const parts = rows.flatMap(({ payload }) => payload.parts);
  return phrasesFor(set, parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
}
