import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, it } from "vitest";
import { root } from "./workspace.mjs";

const CODE = /^(`{3,})[\s\S]*?^\1`*$|`[^`\n]*`/gm;
const LINK = /\]\(([^()\s]+)\)/g;
const PAGES = ["*.md", "docs/**/*.md", "{packages,apps}/*/*.md", "{packages,apps}/*/src/**/*.md"];

/** Returns links of a page to files or headings that do not exist. Web addresses are not checked. */
function brokenLinks(page) {
  const links = [...readFileSync(join(root, page), "utf8").replace(CODE, "").matchAll(LINK)];
  return links
    .map(([, link]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path, heading] = link.split("#");
      const target = path === "" ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return heading !== undefined && !headingsOf(target).includes(heading);
    });
}

/** Returns the anchors of a page's headings: lower case, without punctuation, with hyphens for spaces. */
function headingsOf(page) {
  return [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it.each(globSync(PAGES, { cwd: root }))("every link of %s leads somewhere", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});
