// Copies the documents of the repository to dist/pages, where VitePress reads them, in English and Chinese.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { z } from "zod";
import { addCommandTabs } from "./command-tabs.ts";
import { renderDiagrams } from "./diagrams.ts";
import { convertLinks } from "./links.ts";
import { findTranslation, PAGES, type Page, ROOT } from "./pages.ts";
import { createOpenApi } from "./reference/open-api.ts";
import { getRepositoryUrl } from "./repository.ts";

const pagesFolder = join(import.meta.dirname, "..", "dist", "pages");
/** Frontmatter of a landing page with a picture, as far as it is read here. */
const Landing = z.object({ hero: z.object({ image: z.object({ light: z.string(), dark: z.string() }) }) });
const NOT_TRANSLATED = "::: info 本页暂无中文版\n以下为英文原文。\n:::";

rmSync(pagesFolder, { recursive: true, force: true });
for (const page of PAGES) {
  const translation = findTranslation(page);
  writePage({ ...page, language: "en" });
  writePage({
    ...page,
    source: translation ?? page.source,
    route: `zh/${page.route}`,
    title: page.zhTitle,
    language: "zh",
    notice: translation === undefined ? NOT_TRANSLATED : undefined,
  });
}
writeText("public/openapi.json", `${JSON.stringify(createOpenApi(), null, 2)}\n`);
const icon = readFileSync(join(ROOT, "apps/console/src/icon.svg"), "utf8");
writeText("public/icon.svg", icon);
writeText("public/icon-dark.svg", icon.replaceAll("#1f2a2e", "#dfe6e3"));
const api = join(import.meta.dirname, "..", "dist", "api");
if (existsSync(api)) {
  cpSync(api, join(pagesFolder, "api"), { recursive: true });
  // The language menu leads from each API page to its counterpart.
  for (const file of globSync("**/*.md", { cwd: api })) {
    const path = file.replace(/\.md$/, "").replace(/^index$/, "");
    const title = path === "" ? "各个包的 API" : path;
    writeText(`zh/api/${file}`, `# ${title}\n\nAPI 文档由源代码生成，只有英文：[${title}](/api/${path})。\n`);
  }
}

interface LocalPage extends Page {
  readonly language: "en" | "zh";
  /** Text below the title. */
  readonly notice?: string | undefined;
}

function writePage(page: LocalPage): void {
  const { frontmatter, body } = splitFrontmatter(readFileSync(join(ROOT, page.source), "utf8"));
  const { text: linked, images } = convertLinks(page, body, page.language === "en" ? "/" : "/zh/");
  const { text, diagrams } = renderDiagrams(page, addCommandTabs(linked));
  const repository = getRepositoryUrl();
  const head = {
    description: findDescription(body),
    editUrl: repository === undefined ? undefined : `${repository}/edit/HEAD/${page.source}`,
    ...frontmatter,
  };
  const shown = page.notice === undefined ? text : text.replace(/^# .+$/m, `$&\n\n${page.notice}`);
  writeText(`${page.route}.md`, `---\n${stringify(head)}---\n\n${shown}`);
  for (const image of [...images, ...findHeroImages(frontmatter)])
    cpSync(join(ROOT, image), join(pagesFolder, "public", image), { recursive: true });
  for (const { path, svg } of diagrams) writeText(`public${path}`, svg);
}

/** Returns the files of a landing page's picture. Its frontmatter contains their paths on the site. */
function findHeroImages(frontmatter: object): string[] {
  const { data } = Landing.safeParse(frontmatter);
  return data === undefined ? [] : [data.hero.image.light, data.hero.image.dark].map((path) => path.slice(1));
}

function splitFrontmatter(text: string): { frontmatter: object; body: string } {
  const match = /^---\n([\s\S]*?)\n---\n/.exec(text);
  if (match === null) return { frontmatter: {}, body: text };
  return { frontmatter: Object(parse(match[1] ?? "")), body: text.slice(match[0].length) };
}

/** Returns the first sentence of a page, without markup. */
function findDescription(body: string): string | undefined {
  const paragraph = body.split(/\n\s*\n/).find((each) => /^[\p{L}`*[]/u.test(each.trim()));
  const plain = paragraph?.replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
  return /^.+?[.。](?=\s|$|[^\s])/s
    .exec(plain ?? "")?.[0]
    .replace(/\s+/g, " ")
    .trim();
}

function writeText(path: string, text: string): void {
  const file = join(pagesFolder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
