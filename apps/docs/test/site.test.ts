import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseHTML } from "linkedom";
import MiniSearch from "minisearch";
import { describe, expect, it } from "vitest";
import { addCommandTabs } from "../src/command-tabs.ts";
import { convertLinks, readHeadingIds } from "../src/links.ts";
import { findTranslation, PAGES, ROOT } from "../src/pages.ts";
import { getRepositoryUrl } from "../src/repository.ts";
import { tokenize } from "../src/search.ts";

const site = join(import.meta.dirname, "..", "dist", "site");

interface Built {
  readonly title: string;
  readonly text: string;
  readonly ids: ReadonlySet<string>;
  readonly links: readonly string[];
}

function readBuilt(file: string): Built {
  const { document } = parseHTML(readFileSync(join(site, file), "utf8"));
  return {
    title: document.title,
    text: document.querySelector(".vp-doc")?.textContent ?? "",
    ids: new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)),
    links: [...document.querySelectorAll("a[href], img[src]")].map(
      (element) => element.getAttribute("href") ?? element.getAttribute("src") ?? "",
    ),
  };
}

const pages = new Map(globSync("**/*.html", { cwd: site }).map((file) => [file, readBuilt(file)]));

describe("pages", () => {
  it("exist for every document and every package, in both languages", () => {
    const sources = new Set(PAGES.flatMap((page) => [page.source, findTranslation(page)]));
    const frontPages = ["README.md", "README.zh.md"];
    const documents = globSync(["*.md", "docs/**/*.md", "{packages,apps}/*/README.md"], { cwd: ROOT });
    expect(documents.length).toBeGreaterThan(50);
    expect(documents.filter((file) => !sources.has(file) && !frontPages.includes(file))).toEqual([]);
    const routes = PAGES.flatMap(({ route }) => [route, `zh/${route}`]);
    expect(routes.filter((route) => !pages.has(`${route}.html`))).toEqual([]);
  });

  it.each(PAGES)("contain all headings of $source", ({ source, route }) => {
    const headings = readFileSync(join(ROOT, source), "utf8").match(/^## .+/gm) ?? [];
    expect(pages.get(`${route}.html`)?.ids.size).toBeGreaterThanOrEqual(headings.length);
  });

  it("have the same headings in both languages", () => {
    const different = PAGES.filter((page) => {
      const translation = findTranslation(page);
      if (translation === undefined) return false;
      return readHeadingIds(translation).length !== readHeadingIds(page.source).length;
    });
    expect(different.map(({ source }) => source)).toEqual([]);
  });

  it("show a notice in Chinese if they are not translated", () => {
    const untranslated = PAGES.filter((page) => findTranslation(page) === undefined);
    expect(untranslated.length).toBeGreaterThan(0);
    const shown = PAGES.filter(({ route }) => pages.get(`zh/${route}.html`)?.text.includes("本页暂无中文版"));
    expect(shown.map(({ route }) => route)).toEqual(untranslated.map(({ route }) => route));
  });

  it("have different titles that name Signalbox", () => {
    const titles = PAGES.map(({ route }) => pages.get(`${route}.html`)?.title ?? "");
    expect(titles.filter((title) => !title.includes("Signalbox"))).toEqual([]);
    expect(new Set(titles).size).toBe(titles.length);
  });

  it("include the API of the packages", () => {
    expect(pages.get("api/@signalbox/agent-core.html")?.text).toContain("defineTool");
    expect(JSON.parse(readFileSync(join(site, "openapi.json"), "utf8"))).toMatchObject({ openapi: "3.1.0" });
  });
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

it("has a light and a dark version of each diagram, which load nothing from other hosts", () => {
  const architecture = readFileSync(join(site, "architecture.html"), "utf8");
  const images = [...architecture.matchAll(/<img src="(\/diagrams\/[^"]+)" alt="Diagram: [^"]+"/g)];
  const themes = images.map(([, path = ""]) => /-(\w+)\.svg$/.exec(path)?.[1]);
  expect(themes.length).toBeGreaterThan(1);
  expect(themes.filter((theme) => theme === "light").length * 2).toBe(themes.length);
  for (const [, path = ""] of images) {
    const svg = readFileSync(join(site, path), "utf8");
    expect(svg).toContain("</svg>");
    expect(svg).not.toMatch(/https?:(?!\/\/www\.w3\.org)/);
  }
  const raw = [...pages.keys()].filter((file) =>
    /language-mermaid/.test(readFileSync(join(site, file), "utf8")),
  );
  expect(raw).toEqual([]);
});

describe("the search", () => {
  it("splits Chinese into words and other languages at spaces and punctuation", () => {
    expect(tokenize("选择模型，然后运行 `signalbox start`.")).toEqual([
      "选择",
      "模型",
      "然后",
      "运行",
      "signalbox",
      "start",
    ]);
  });

  it("finds every Chinese page that contains a word", async () => {
    const [chunk] = globSync("assets/chunks/*localSearchIndexzh*.js", { cwd: site });
    const { default: json }: { default: string } = await import(join(site, String(chunk)));
    const index = MiniSearch.loadJSON(json, {
      fields: ["title", "titles", "text"],
      storeFields: ["title", "titles"],
      tokenize,
    });
    for (const word of ["模型", "备份", "沙箱", "ollama"]) {
      const found = new Set(
        index.search(word, { prefix: true }).map(({ id }) => String(id).replace(/(?:\.html)?#.*$/, "")),
      );
      const missed = PAGES.filter(({ route }) => {
        const text = pages.get(`zh/${route}.html`)?.text ?? "";
        return text.toLowerCase().includes(word) && !found.has(`/zh/${route.replace(/^index$/, "")}`);
      });
      expect([word, missed.map(({ route }) => route)]).toEqual([word, []]);
    }
  });
});

describe("convertLinks", () => {
  const page = { source: "docs/a.md", route: "a", title: "A", zhTitle: "甲" };

  it("keeps code and turns links to other files into text", () => {
    const text = "[x](security.md#tokens) `[y](z.md)` [z](../scripts/check.mjs)\n";
    expect(convertLinks(page, text).text).toBe("[x](/security.md#tokens) `[y](z.md)` z\n");
  });

  it("keeps the language", () => {
    expect(convertLinks(page, "[x](security.md) [y](first-hour.zh.md)", "/zh/").text).toBe(
      "[x](/zh/security.md) [y](/zh/first-hour.md)",
    );
  });
});

describe("addCommandTabs", () => {
  it("adds a tab for each way to install", () => {
    const text =
      "```sh\nsignalbox status   # the state\nnpx signalbox doctor && npm run signalbox -- why\n```\n";
    expect(addCommandTabs(text)).toBe(
      [
        "::: code-group",
        "```sh [npm]",
        "npx signalbox status   # the state",
        "npx signalbox doctor && npx signalbox why",
        "```",
        "```sh [checkout]",
        "npm run signalbox -- status   # the state",
        "npm run signalbox -- doctor && npm run signalbox -- why",
        "```",
        "```sh [Docker]",
        "docker compose exec signalbox signalbox status   # the state",
        "docker compose exec signalbox signalbox doctor && docker compose exec signalbox signalbox why",
        "```",
        ":::",
        "",
      ].join("\n"),
    );
  });

  it.each([
    "```sh\nnpm install @signalbox/gateway\nnpx signalbox init\n```\n",
    "```sh\nsystemctl --user restart signalbox\n```\n",
    "::: code-group\n```sh [npm]\nnpx signalbox init\n```\n:::\n",
    "```ts\nsignalbox status\n```\n",
  ])("keeps %j", (text) => {
    expect(addCommandTabs(text)).toBe(text);
  });
});

it.each([
  ["git@github.com:team/signalbox.git", "https://github.com/team/signalbox"],
  ["https://user:secret@git.example.org/team/signalbox", "https://git.example.org/team/signalbox"],
  ["/srv/git/signalbox", undefined],
  ["", undefined],
])("the repository URL of the origin %s is %s", (origin, url) => {
  expect(getRepositoryUrl(origin)).toBe(url);
});
