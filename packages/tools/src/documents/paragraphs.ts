import type { TextOutput } from "./text-output.ts";
import { readXml } from "./xml.ts";

/**
 * Writes the text of a document or a slide: paragraphs as lines, headings and list items with Markdown's marks, and
 * rows of tables as lines with cells between bars. Word and PowerPoint use the same local names for them (ECMA-376,
 * part 1, sections 17 and 21.1).
 */
export function writeParagraphs(xml: string, output: TextOutput): void {
  let paragraph = "";
  let mark = "";
  let isText = false;
  let isRun = false;
  let cells: string[] | undefined;
  let cell = "";
  // Alternatives for older programs repeat the same text.
  let fallbacks = 0;

  const endParagraph = (): void => {
    const line = paragraph.trimEnd();
    if (cells !== undefined) cell += cell === "" || line === "" ? line : ` ${line}`;
    else if (line !== "") output.add(`${mark}${line}\n`);
    paragraph = "";
    mark = "";
  };

  readXml(xml, {
    open(name, attributes) {
      if (name === "Fallback") fallbacks += 1;
      if (fallbacks > 0) return;
      if (name === "t") isText = true;
      else if (name === "r") isRun = true;
      // Outside of a run, it is the position of a tab stop.
      else if (name === "tab" && isRun) paragraph += "\t";
      else if (name === "br" || name === "cr") paragraph += cells === undefined ? "\n" : " ";
      else if (name === "pStyle") mark = getHeadingMark(attributes["w:val"]) ?? mark;
      else if (name === "numPr" && mark === "") mark = "- ";
      else if (name === "tr") cells = [];
      else if (name === "tc") cell = "";
    },
    text(text) {
      if (isText && fallbacks === 0) paragraph += text;
    },
    close(name) {
      if (name === "Fallback") fallbacks -= 1;
      if (fallbacks > 0) return;
      if (name === "t") isText = false;
      else if (name === "r") isRun = false;
      else if (name === "p") endParagraph();
      else if (name === "tc") cells?.push(cell);
      else if (name === "tr") {
        if (cells !== undefined) output.add(`| ${cells.join(" | ")} |\n`);
        cells = undefined;
      }
    },
  });
}

function getHeadingMark(style: string | undefined): string | undefined {
  const level = /^(?:heading|berschrift|标题)\s?([1-6])$/i.exec(style ?? "")?.[1];
  if (level !== undefined) return `${"#".repeat(Number(level))} `;
  return style === "Title" ? "# " : undefined;
}
