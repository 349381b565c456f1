/**
 * Reads the responses of `@playwright/mcp`: Markdown with the sections `Open tabs`, `Page`, `Modal state` and
 * `Snapshot`, each under a heading of the third level. Source: `tools/backend/response.ts` of Playwright 1.64.
 */

/** The state of a browser after a call. */
export interface PageView {
  /** Address of the current page. */
  readonly url: string;
  readonly title: string;
  /** The open tabs, one line each, if there are several. */
  readonly tabs: readonly string[];
  /** The dialog or file chooser that blocks the page. */
  readonly modal: readonly string[];
  /** The elements of the page as YAML. Elements that can be operated have a reference, such as `[ref=e5]`. */
  readonly elements: readonly string[];
}

/** An element of a page as people see it. */
export interface ElementDescription {
  /** Role and name, such as `button "Buy now"`. */
  readonly text: string;
  /** Address that a link leads to. */
  readonly url: string | undefined;
}

/** Maximum length of a description, in UTF-16 units. */
const MAX_TEXT_CHARS = 300;
/** Maximum number of lines below an element that are searched for its text. */
const MAX_LINES_BELOW = 20;

/** Parses the response to `browser_snapshot`. Returns undefined if it has another form. */
export function parsePageView(response: string): PageView | undefined {
  const lines = response.split("\n");
  const page = readSection(lines, "Page", ["Modal state", "Snapshot"]);
  const url = readField(page, "Page URL");
  if (url === undefined) return undefined;
  const modal = readSection(lines, "Modal state", ["Snapshot"]);
  return {
    url,
    title: readField(page, "Page Title") ?? "",
    tabs: readSection(lines, "Open tabs", ["Page"]),
    modal,
    // A page chooses the text of its dialog, which could imitate a snapshot. A blocked page has no snapshot.
    elements:
      modal.length > 0 ? [] : readSection(lines, "Snapshot", []).filter((line) => !line.startsWith("```")),
  };
}

/** Returns true if a call failed because a dialog or a file chooser blocks the page. */
export function isBlocked(response: string): boolean {
  return response.includes("\n### Modal state\n");
}

/**
 * Parses the response to `browser_tabs` while a dialog blocks the page. Its title is then empty, so it cannot imitate
 * another address.
 *
 * @returns undefined if it has another form
 */
export function parseBlockedView(response: string): PageView | undefined {
  const lines = response.split("\n");
  const end = lines.indexOf("### Modal state");
  const current = lines.slice(0, Math.max(0, end)).find((line) => /^- \d+: \(current\) /.test(line));
  const url = /^- \d+: \(current\) \[\]\((.*)\)$/.exec(current ?? "")?.[1];
  if (url === undefined) return undefined;
  return { url, title: "", tabs: [], modal: lines.slice(end + 1), elements: [] };
}

/** Returns the lines below the first heading with a title, up to one of the headings that can follow it. */
function readSection(lines: readonly string[], title: string, next: readonly string[]): readonly string[] {
  const start = lines.indexOf(`### ${title}`);
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const ends = (title === "Snapshot" ? ["```"] : next.map((each) => `### ${each}`))
    .map((line) => rest.indexOf(line, title === "Snapshot" ? 1 : 0))
    .filter((index) => index >= 0);
  return rest.slice(0, Math.min(rest.length, ...ends));
}

function readField(lines: readonly string[], name: string): string | undefined {
  const prefix = `- ${name}: `;
  return lines.find((line) => line.startsWith(prefix))?.slice(prefix.length);
}

/**
 * Describes the element with a reference. The page chooses the names of its elements, so only the attributes after the
 * name are searched for the reference.
 */
export function describeElement({ elements }: PageView, ref: string): ElementDescription | undefined {
  const index = elements.findIndex((line) => parseElement(line)?.ref === ref);
  const found = parseElement(elements[index] ?? "");
  if (found === undefined) return undefined;
  const below: string[] = [];
  for (const line of elements.slice(index + 1, index + 1 + MAX_LINES_BELOW)) {
    if (line.search(/\S/) <= found.indent) break;
    below.push(line);
  }
  const text = found.name || found.value || below.flatMap((line) => readText(line) ?? []).join(" ");
  const target = readUrlLine(below[0] ?? "");
  return {
    text: text === "" ? found.role : `${found.role} ${JSON.stringify(shorten(text))}`,
    url: target,
  };
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS - 1)}…` : text;
}

interface ParsedElement {
  readonly indent: number;
  readonly role: string;
  readonly name: string;
  /** Text on the same line. */
  readonly value: string;
  readonly ref: string | undefined;
}

/** A role, a name in double quotes, attributes in brackets, and then a text after a colon. */
const ELEMENT = /^([a-z]+)(?: ("(?:[^"\\]|\\.)*"))?((?: \[[^\]]*\])*)(?:: ?(.*))?$/;

function parseElement(line: string): ParsedElement | undefined {
  const [, spaces = "", item = ""] = /^( *)- (.*)$/.exec(line) ?? [];
  const [, role = "", name = '""', attributes = "", value = ""] = ELEMENT.exec(unquoteKey(item)) ?? [];
  if (role === "") return undefined;
  return {
    indent: spaces.length,
    role,
    name: unquote(name),
    value: unquote(value),
    ref: / \[ref=((?:f\d+)?e\d+)\]/.exec(attributes)?.[1],
  };
}

/** Returns the name or the text of a line below an element. */
function readText(line: string): string | undefined {
  const element = parseElement(line);
  return element && (element.name || element.value || undefined);
}

/** Removes the single quotes around a YAML key with special characters. */
function unquoteKey(item: string): string {
  const [, quoted, rest = ""] = /^'((?:[^']|'')*)'(.*)$/.exec(item) ?? [];
  return quoted === undefined ? item : quoted.replaceAll("''", "'") + rest;
}

/** Removes double quotes. YAML escapes special characters as JSON does, except for control characters. */
function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Returns the addresses of all links of a page. */
export function findPageLinks({ url, elements }: PageView): readonly string[] {
  const targets = elements.flatMap((line) => readUrlLine(line) ?? []);
  return [url, ...targets.flatMap((target) => URL.parse(target, url)?.href ?? [])];
}

function readUrlLine(line: string): string | undefined {
  const target = /^ *- \/url: (.*)$/.exec(line)?.[1];
  return target === undefined ? undefined : unquote(target);
}
