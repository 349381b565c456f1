import type { TextCapability } from "../contract/capabilities.ts";
import { normalizeLineEnds, textFits } from "../text.ts";
import { marksFit } from "./marks.ts";
import { splitMarkdown } from "./split-markdown.ts";

/** Minimum limit that leaves room for the fences of a code block. */
const MIN_LENGTH = 16;

/**
 * Splits a text into parts that the platform accepts, like `splitMarkdown`. A text that fits becomes one unchanged
 * part. A blank text has no parts.
 *
 * @throws RangeError if `limit.max` is below 16
 */
export function splitText(
  text: string,
  { max = Number.POSITIVE_INFINITY, unit, maxMarks }: Pick<TextCapability, "max" | "unit" | "maxMarks">,
): string[] {
  if (max < MIN_LENGTH)
    throw new RangeError(`The limit of a part must be at least ${MIN_LENGTH}, not ${max}.`);
  const trimmed = normalizeLineEnds(text)
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd();
  if (trimmed === "") return [];
  const fits = textFits(trimmed, { max, unit }) && marksFit(trimmed, maxMarks);
  return fits ? [trimmed] : splitMarkdown(trimmed, { max, unit, maxMarks });
}
