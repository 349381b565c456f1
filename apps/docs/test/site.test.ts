import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseHTML } from "linkedom";
import { expect, it } from "vitest";
import { withSiteLinks } from "../src/links.ts";
import { PAGES, ROOT } from "../src/pages.ts";

const site = join(import.meta.dirname, "..", "dist", "site");

interface Built {
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
}

function built(file: string): Built {
  const { document } = parseHTML(readFileSync(join(site, file), "utf8"));
  return {
    ids: new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)),
    links: [...document.querySelectorAll("a[href], img[src]")].map(
      (element) => element.getAttribute("href") ?? element.getAttribute("src") ?? "",
    ),
  };
}

const pages = new Map(globSync("**/*.html", { cwd: site }).map((file) => [file, built(file)]));

it("has every document of the repository, and every package", () => {
  const sources = new Set(PAGES.map(({ source }) => source));
  const documents = globSync(["*.md", "docs/**/*.md", "{packages,apps}/*/README.md"], { cwd: ROOT });
  expect(documents.length).toBeGreaterThan(40);
  expect(documents.filter((file) => !sources.has(file))).toEqual([]);
  expect(PAGES.filter(({ route }) => !pages.has(`${route}.html`))).toEqual([]);
});

it.each(PAGES)("shows all of $source", ({ source, route }) => {
  const headings = readFileSync(join(ROOT, source), "utf8").match(/^## .+/gm) ?? [];
  expect(pages.get(`${route}.html`)?.ids.size).toBeGreaterThanOrEqual(headings.length);
});

it.each([...pages.keys()])("every link and anchor of %s leads somewhere", (file) => {
  const broken = (pages.get(file)?.links ?? []).filter((link) => {
    if (/^[a-z]+:/.test(link) || link === "") return false;
    const [path = "", anchor = ""] = decodeURI(link).split("#");
    const absolute = path.startsWith("/") ? path.slice(1) : join(dirname(file), path);
    if (path !== "" && /\.(?!html$)\w+$/.test(path)) return !existsSync(join(site, absolute));
    const target = path === "" ? file : absolute.replace(/\/$|^$/, "/index.html").replace(/^\//, "");
    const page = pages.get(target.endsWith(".html") ? target : `${target}.html`);
    return page === undefined || (anchor !== "" && !page.ids.has(anchor));
  });
  expect(broken).toEqual([]);
});

it("draws the diagrams of the documents, and loads nothing from elsewhere for them", () => {
  const architecture = readFileSync(join(site, "architecture.html"), "utf8");
  const pictures = [...architecture.matchAll(/<img src="(\/diagrams\/[^"]+)" alt="Diagram: [^"]+"/g)];
  expect(pictures).toHaveLength(2);
  for (const [, path = ""] of pictures) {
    const svg = readFileSync(join(site, path), "utf8");
    expect(svg).toContain("</svg>");
    expect(svg).not.toMatch(/https?:(?!\/\/www\.w3\.org)/);
  }
  expect(
    [...pages.keys()].filter((file) => /language-mermaid/.test(readFileSync(join(site, file), "utf8"))),
  ).toEqual([]);
});

it("leaves code alone, and turns what is no page into its text", () => {
  const page = { source: "docs/a.md", route: "a", title: "A" };
  const text = "[x](security.md#tokens) `[y](z.md)` [z](../scripts/check.mjs)\n";
  expect(withSiteLinks(page, text).text).toBe("[x](/security.md#tokens) `[y](z.md)` z\n");
});
