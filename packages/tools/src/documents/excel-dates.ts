/**
 * Returns true if a number format shows a date or a time.
 *
 * @param id built-in formats have fixed ids (ECMA-376, part 1, section 18.8.30)
 * @param code the format of the document, if it defines one
 */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);
  // Texts, colors and conditions of a format are no codes.
  const plain = code.slice(0, 300).replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(plain) && !/^general$/i.test(plain);
}

const DAY_MS = 86_400_000;

/**
 * Converts a day number of a spreadsheet to a date or a time. Day 60 of the usual system does not exist, so earlier
 * days are off by one and are not converted.
 *
 * @returns undefined if the number is no day that people use
 */
export function toDate(days: number, is1904: boolean): string | undefined {
  if (!Number.isFinite(days) || days < 0 || days > 2_958_465) return undefined;
  if (days < 1) return new Date(days * DAY_MS).toISOString().slice(11, 16);
  if (!is1904 && days < 61) return undefined;
  const epoch = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  // Excel's fractions are not exact, so a time is rounded to a second.
  const iso = new Date(Math.round((epoch + days * DAY_MS) / 1_000) * 1_000).toISOString();
  return Number.isInteger(days) ? iso.slice(0, 10) : iso.slice(0, 16).replace("T", " ");
}
