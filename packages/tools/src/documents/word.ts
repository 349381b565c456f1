import type { OfficePackage } from "./package-reader.ts";
import { writeParagraphs } from "./paragraphs.ts";
import type { TextOutput } from "./text-output.ts";

/** Writes the text of a Word document with its footnotes. Text that was deleted with change tracking is left out. */
export function writeWord(file: OfficePackage, output: TextOutput): void {
  writeParagraphs(file.read("word/document.xml"), output);
  for (const part of ["word/footnotes.xml", "word/endnotes.xml", "word/comments.xml"]) {
    const xml = file.read(part);
    // Word writes these parts without text, too.
    if (!/<\w+:t[ >]/.test(xml)) continue;
    output.add(`\n[${/word\/(\w+)\.xml/.exec(part)?.[1]}]\n`);
    writeParagraphs(xml, output);
  }
}
