import { posix } from "node:path";
import { PAGES, type Page } from "./pages.ts";

const BLOCK_OF_CODE = /^(`{3,})[\s\S]*?^\1`*$/gm;
/** A link or a picture; or code, in which nothing is one. */
const CODE_OR_LINK = /`[^`\n]*`|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g;

const routes: ReadonlyMap<string, string> = new Map(PAGES.map(({ source, route }) => [source, route]));

/** A page with its links as they are on the site. Pictures are copied beside it, and come back by their source. */
export function withSiteLinks(page: Page, text: string): { text: string; pictures: readonly string[] } {
  const pictures: string[] = [];
  const inText = (part: string): string =>
    part.replace(CODE_OR_LINK, (whole, picture?: string, label?: string, target?: string) => {
      if (target === undefined || /^[a-z]+:/.test(target) || target.startsWith("#")) return whole;
      const [path = "", heading] = target.split("#");
      const source = posix.normalize(posix.join(posix.dirname(page.source), path)).replace(/\/$/, "");
      if (picture === "!") {
        pictures.push(source);
        return `![${label}](/${source})`;
      }
      const route = routes.get(source) ?? routes.get(posix.join(source, "README.md"));
      if (route === undefined) return label ?? "";
      return `[${label}](/${route}.md${heading === undefined ? "" : `#${heading}`})`;
    });
  return { text: outsideBlocks(text, inText), pictures };
}

/** Changes what is not a block of code. */
function outsideBlocks(text: string, change: (part: string) => string): string {
  const code = [...text.matchAll(BLOCK_OF_CODE)];
  const ends = code.map((match) => match.index + match[0].length);
  const parts = code.map((match, at) => change(text.slice(ends[at - 1] ?? 0, match.index)) + match[0]);
  return parts.join("") + change(text.slice(ends.at(-1) ?? 0));
}

/** A heading as links name it, on the site as where the repository is read: in lower case, hyphens for spaces. */
export function headingId(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}
