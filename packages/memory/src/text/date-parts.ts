/** A date, or the parts of it that a text states. */
export interface DateParts {
  readonly year?: number;
  readonly month?: number;
  readonly day?: number;
}

const ZH_DIGITS = "一二三四五六七八九";

/** Reads a Chinese numeral up to 99, such as 二十三. */
export function chineseNumber(text: string): number {
  const digit = (character = "") => ZH_DIGITS.indexOf(character) + 1;
  if (!text.includes("十")) return text.length === 1 ? digit(text) : 0;
  const [tens = "", ones = ""] = text.split("十");
  return (tens === "" ? 1 : digit(tens)) * 10 + digit(ones);
}
