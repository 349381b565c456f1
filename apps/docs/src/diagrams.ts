import { renderMermaidSVG } from "beautiful-mermaid";
import type { Page } from "./pages.ts";

/** A picture that was drawn of a text; its path is that of the site. */
export interface Diagram {
  readonly path: string;
  readonly svg: string;
}

const HEADING_OR_DIAGRAM = /^#+ (.+)$|^```mermaid\n([\s\S]*?)^```$/gm;
/** Pictures are loaded from nowhere else than the site. */
const FOREIGN_FONT = /^\s*@import url\([^)]*\);\n/gm;

/** A page with its diagrams as pictures, drawn here, so that readers load no program to draw them. */
export function withDiagrams(page: Page, text: string): { text: string; diagrams: readonly Diagram[] } {
  const diagrams: Diagram[] = [];
  let heading = page.title;
  const drawn = text.replace(HEADING_OR_DIAGRAM, (whole, title?: string, source?: string) => {
    if (title !== undefined) heading = title;
    if (source === undefined) return whole;
    const path = `/diagrams/${page.route}-${diagrams.length + 1}.svg`;
    diagrams.push({ path, svg: renderMermaidSVG(source, { font: "Arial" }).replace(FOREIGN_FONT, "") });
    // As wide as the page; by itself it can be looked at in its own size.
    return `<a href="${path}" target="_blank"><img src="${path}" alt="Diagram: ${heading}"></a>`;
  });
  return { text: drawn, diagrams };
}
