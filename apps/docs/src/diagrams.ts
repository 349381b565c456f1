import { type RenderOptions, renderMermaidSVG } from "beautiful-mermaid";
import type { Page } from "./pages.ts";

/** A rendered diagram and its path on the site. */
export interface Diagram {
  readonly path: string;
  readonly svg: string;
}

const HEADING_OR_DIAGRAM = /^#+ (.+)$|^```mermaid\n([\s\S]*?)^```$/gm;
/** The site loads nothing from other hosts. */
const EXTERNAL_FONT = /^\s*@import url\([^)]*\);\n/gm;

/** Colors of the default theme of VitePress. */
const THEMES: Readonly<Record<"light" | "dark", RenderOptions>> = {
  light: { bg: "#ffffff", fg: "#3c3c43", accent: "#3451b2" },
  dark: { bg: "#1b1b1f", fg: "#dfdfd6", accent: "#a8b1ff" },
};

/**
 * Replaces the Mermaid diagrams of a page with links to SVG files, in a light and a dark version. Readers then need no
 * renderer, and can open a diagram in full size.
 */
export function renderDiagrams(page: Page, text: string): { text: string; diagrams: readonly Diagram[] } {
  const diagrams: Diagram[] = [];
  let heading = page.title;
  let count = 0;
  const rendered = text.replace(HEADING_OR_DIAGRAM, (whole, title?: string, source?: string) => {
    if (title !== undefined) heading = title;
    if (source === undefined) return whole;
    count += 1;
    const images = Object.entries(THEMES).map(([theme, options]) => {
      const path = `/diagrams/${page.route}-${count}-${theme}.svg`;
      const svg = renderMermaidSVG(source, { font: "Arial", ...options }).replace(EXTERNAL_FONT, "");
      diagrams.push({ path, svg });
      return `<a class="diagram only-${theme}" href="${path}" target="_blank"><img src="${path}" alt="Diagram: ${heading}"></a>`;
    });
    return images.join("\n");
  });
  return { text: rendered, diagrams };
}
