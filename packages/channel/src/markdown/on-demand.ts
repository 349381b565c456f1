import { createRequire } from "node:module";
import type { TextCapability } from "../contract/capabilities.ts";
import { normalizeLineEnds, textFits } from "../text.ts";

/**
 * `@signalbox/channel/markdown`, loaded at the first call: its parser is some eighty modules, which a program that
 * handles no Markdown should not pay for. Under Node alone; for pages, import it.
 */
export function loadMarkdown(): typeof import("./index.ts") {
  return createRequire(import.meta.url)("@signalbox/channel/markdown");
}

/**
 * Cuts a text into parts that the platform takes, as `splitMarkdown` does. One that fits is one part, whatever it
 * holds; a blank one is none.
 *
 * @throws RangeError when `limit.max` is under 16
 */
export function chunkText(text: string, limit: Pick<TextCapability, "max" | "unit">): string[] {
  const { max = Number.POSITIVE_INFINITY, unit } = limit;
  if (max < 16) throw new RangeError(`A part of ${max} ${unit} is too short: at least 16.`);
  const whole = normalizeLineEnds(text)
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd();
  if (whole === "") return [];
  return textFits(whole, { max, unit }) ? [whole] : loadMarkdown().splitMarkdown(whole, { max, unit });
}
