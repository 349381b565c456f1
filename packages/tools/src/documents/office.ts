import { writeExcel } from "./excel.ts";
import { type OfficePackage, openOfficePackage } from "./package-reader.ts";
import { writePowerpoint } from "./powerpoint.ts";
import { TextLimitReached, TextOutput } from "./text-output.ts";
import { writeWord } from "./word.ts";

/** The program that a document was written for. */
export type OfficeKind = "word" | "excel" | "powerpoint";

const WRITERS: Readonly<Record<OfficeKind, (file: OfficePackage, output: TextOutput) => void>> = {
  word: writeWord,
  excel: writeExcel,
  powerpoint: writePowerpoint,
};

/** Work of the thread that reads Office files. */
export interface OfficeWork {
  readonly kind: OfficeKind;
  readonly bytes: Uint8Array;
  readonly maxChars: number;
}

/** Returns the text of an Office file. Only loaded in a worker thread. */
export function extractOfficeText({ kind, bytes, maxChars }: OfficeWork): { text: string; cut: boolean } {
  const output = new TextOutput(maxChars);
  try {
    WRITERS[kind](openOfficePackage(bytes), output);
    return { text: output.text, cut: false };
  } catch (error) {
    if (error instanceof TextLimitReached) return { text: output.text, cut: true };
    throw error;
  }
}
