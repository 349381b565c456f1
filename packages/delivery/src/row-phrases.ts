import { type Language, type Phrases, phrasesFor } from "@signalbox/phrases";
import type { OutboxRow } from "./outbox.ts";

/** Returns the language that is configured for the conversation of a row, if any. */
export type GetLanguage = (row: OutboxRow) => Promise<Language | undefined>;

/**
 * Returns the phrases for the reader of rows with one destination: in the configured language, otherwise in the
 * language of the rows.
 */
export async function getPhrases(
  rows: readonly OutboxRow[],
  getLanguage: GetLanguage | undefined,
): Promise<Phrases> {
  const [first] = rows;
  // A failed lookup must not suppress the notice: fall back to the language of the rows.
  const language = first && (await getLanguage?.(first).catch(() => undefined));
  const parts = rows.flatMap(({ payload }) => payload.parts);
  return phrasesFor(language, parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
}
