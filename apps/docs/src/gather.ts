// Copies the documents of the repository to where VitePress reads them, with their links as the site has them.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withSiteLinks } from "./links.ts";
import { PAGES, ROOT } from "./pages.ts";

const pagesFolder = join(import.meta.dirname, "..", "dist", "pages");

rmSync(pagesFolder, { recursive: true, force: true });
for (const page of PAGES) {
  const { text, pictures } = withSiteLinks(page, readFileSync(join(ROOT, page.source), "utf8"));
  const target = join(pagesFolder, `${page.route}.md`);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  for (const picture of pictures)
    cpSync(join(ROOT, picture), join(pagesFolder, "public", picture), { recursive: true });
}
