import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findTranslation, HOME, PAGES, type Page, ROOT } from "./pages.ts";

const CODE_BLOCK = /^( *)(`{3,})[\s\S]*?^\1\2`*$/gm;
/** A link or an image, or inline code, which can contain neither. */
const CODE_OR_LINK = /`[^`\n]*`|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

/** The front pages of the repository, which the landing page of the site replaces. */
const FRONT_PAGES = ["README.md", "README.zh.md"];

const routes: ReadonlyMap<string, string> = new Map([
  ...PAGES.flatMap(({ source, route }): [string, string][] => [
    [source, route],
    [source.replace(/\.md$/, ".zh.md"), route],
  ]),
  ...FRONT_PAGES.map((source): [string, string] => [source, HOME.route]),
]);

/**
 * Converts the links of a document from paths in the repository to paths on the site. A link to a file that is not a
 * page becomes plain text. An image with a `-dark` version has both, of which the theme shows one.
 *
 * @param prefix path of the language, `/` or `/zh/`
 * @returns the text, and the images that it shows
 */
export function convertLinks(
  page: Page,
  text: string,
  prefix = "/",
): { text: string; images: readonly string[] } {
  const images: string[] = [];
  const convert = (part: string): string =>
    part.replace(CODE_OR_LINK, (whole, image?: string, label?: string, target?: string) => {
      if (target === undefined || /^[a-z]+:/.test(target) || /^[#/]/.test(target)) return whole;
      const [path = "", heading] = target.split("#");
      const source = posix.normalize(posix.join(posix.dirname(page.source), path)).replace(/\/$/, "");
      if (image === "!") {
        images.push(source);
        const dark = source.replace(/(\.zh)?\.png$/, "-dark$1.png");
        if (dark === source || !existsSync(join(ROOT, dark))) return `![${label}](/${source})`;
        images.push(dark);
        return `<img class="only-light" src="/${source}" alt="${label}"><img class="only-dark" src="/${dark}" alt="${label}">`;
      }
      const route = routes.get(source) ?? routes.get(posix.join(source, "README.md"));
      if (route === undefined) return label ?? "";
      const anchor =
        heading === undefined ? "" : `#${prefix === "/" ? heading : translateHeading(source, heading)}`;
      return `[${label}](${prefix}${route}.md${anchor})`;
    });
  return { text: replaceOutsideBlocks(text, convert), images };
}

/** Returns the id of a heading in the Chinese translation of a page. Translations have the same headings in order. */
function translateHeading(source: string, heading: string): string {
  const page = PAGES.find((each) => each.source === source);
  const translation = page && findTranslation(page);
  if (translation === undefined) return heading;
  const [ids, translated] = [source, translation].map(readHeadingIds);
  return translated?.[ids?.indexOf(heading) ?? -1] ?? heading;
}

/** Returns the ids of all headings of a document, in order. */
export function readHeadingIds(file: string): string[] {
  const text = readFileSync(join(ROOT, file), "utf8").replace(CODE_BLOCK, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) => createHeadingId(title));
}

/** Applies a change to everything except code blocks. */
function replaceOutsideBlocks(text: string, change: (part: string) => string): string {
  const code = [...text.matchAll(CODE_BLOCK)];
  const ends = code.map((match) => match.index + match[0].length);
  const parts = code.map((match, at) => change(text.slice(ends[at - 1] ?? 0, match.index)) + match[0]);
  return parts.join("") + change(text.slice(ends.at(-1) ?? 0));
}

/** Returns the id of a heading like GitHub: lower case, hyphens for spaces, no punctuation. */
export function createHeadingId(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
