// Copies the documents of the repository to where VitePress reads them, with their links as the site has them.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withDiagrams } from "./diagrams.ts";
import { withSiteLinks } from "./links.ts";
import { PAGES, ROOT } from "./pages.ts";

const pagesFolder = join(import.meta.dirname, "..", "dist", "pages");

rmSync(pagesFolder, { recursive: true, force: true });
for (const page of PAGES) {
  const { text: linked, pictures } = withSiteLinks(page, readFileSync(join(ROOT, page.source), "utf8"));
  const { text, diagrams } = withDiagrams(page, linked);
  writeText(join(pagesFolder, `${page.route}.md`), text);
  for (const picture of pictures)
    cpSync(join(ROOT, picture), join(pagesFolder, "public", picture), { recursive: true });
  for (const { path, svg } of diagrams) writeText(join(pagesFolder, "public", path), svg);
}

function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
