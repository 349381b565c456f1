import { type Document, isMap, isScalar, isSeq, Lexer, parseDocument, type Scalar } from "yaml";
import { ConfigError, type ConfigPath, formatPath } from "./problem.ts";
import { findSecrets, isConfidential } from "./secret-places.ts";

/** The text of a configuration file without its secrets. */
export interface MaskedText {
  /** The text, in which a marker such as `"<secret models.providers.openai.apiKey>"` replaces each secret. */
  readonly text: string;
  /** The source of each secret, by marker. */
  readonly secrets: ReadonlyMap<string, string>;
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly marker: string;
  readonly replacement: string;
}

/** A value that is only a reference to an environment variable or a file. */
const REFERENCE = /^(?:(?:Basic|Bearer|Token) )?\$\{(?:file:[^}]+|\w+)\}$/i;
const MARKER = /<secret [^<>\n]*>/g;
/** An assignment in a comment, such as a key that was commented out. */
const ASSIGNMENT =
  /((?:key|token|secret|password|passphrase|credentials?)["']?\s*[:=]\s*["']?)([^\s"'#,}\]]{6,})/gi;

/**
 * Replaces the secrets in the text of a YAML or JSON configuration with markers. References to secrets stay as they
 * are. {@link restoreSecrets} is the reverse.
 *
 * @param known further values that are secret, such as resolved references
 * @throws ConfigError if the syntax is not valid, because secrets cannot be recognized then
 */
export function maskSecrets(file: string, text: string, known: readonly string[] = []): MaskedText {
  const document = parseDocument(text, { uniqueKeys: false });
  if (file.endsWith(".json5") || document.errors.length > 0)
    throw maskError(
      file,
      "",
      "cannot be shown without its secrets",
      "Edit it on the machine of the gateway.",
    );
  const secretValues = [...known, ...findSecrets(toValue(file, document))];
  const parts: Part[] = [];
  walk(document.contents, [], (scalar, path, list) => {
    if (!isSecret(scalar.value, path, list, secretValues) || !scalar.range) return;
    const [start, end] = scalar.range;
    const marker = createMarker(path, parts);
    const lineBreak = text.slice(start, end).endsWith("\n") ? "\n" : "";
    parts.push({ start, end, marker, replacement: `${JSON.stringify(marker)}${lineBreak}` });
  });
  for (const { start, source } of findComments(text))
    parts.push(...maskComment(source, start, secretValues, parts));
  const secrets = new Map(parts.map(({ marker, start, end }) => [marker, text.slice(start, end)]));
  return { text: replaceParts(text, parts), secrets };
}

/**
 * Puts the secrets of a file back into a text whose secrets are masked. A marker is only accepted where the secret is
 * in the file, so that nobody can move a secret to a place where it is sent elsewhere or shown.
 *
 * @param current the file's text with its secrets
 * @throws ConfigError if a marker is at another place
 */
export function restoreSecrets(
  file: string,
  masked: string,
  current: string,
  known: readonly string[] = [],
): string {
  if (!masked.includes("<secret ")) return masked;
  const { text, secrets } = maskSecrets(file, current, known);
  if (masked === text) return current;
  const document = parseDocument(masked, { uniqueKeys: false });
  const parts: Part[] = [];
  const add = (start: number, end: number, marker: string, source: string): void =>
    void parts.push({ start, end, marker, replacement: source });
  walk(document.contents, [], (scalar, path) => {
    const marker = typeof scalar.value === "string" ? scalar.value.match(MARKER)?.[0] : undefined;
    if (marker === undefined || !scalar.range) return;
    const [start, end] = scalar.range;
    const source = secrets.get(marker);
    if (source === undefined || scalar.value !== marker || marker !== formatMarker(path))
      throw maskError(
        file,
        formatPath(path),
        `contains the marker ${marker}, which stands for a secret at another place`,
        "Enter the secret again, or refer to it as `${NAME}`.",
        getLine(masked, start),
      );
    add(start, end, marker, isBlock(source) ? JSON.stringify(parseDocument(source).toJS()) : source);
  });
  for (const { start, source } of findComments(masked))
    for (const match of source.matchAll(MARKER)) {
      const secret = secrets.get(match[0]);
      const at = start + match.index;
      if (secret !== undefined && match[0].startsWith("<secret comment "))
        add(at, at + match[0].length, match[0], secret);
    }
  const restored = replaceParts(masked, parts);
  const [rest] = restored.match(MARKER) ?? [];
  if (rest === undefined) return restored;
  throw maskError(
    file,
    "",
    `contains the marker ${rest} of no secret`,
    "Remove it, or enter the value again.",
    getLine(restored, restored.indexOf(rest)),
  );
}

/** Returns true for a value that was masked by {@link maskSecrets}. */
function isSecret(
  value: unknown,
  path: ConfigPath,
  list: readonly unknown[] | undefined,
  known: readonly string[],
): boolean {
  if (value === null || value === undefined || value === "" || typeof value === "boolean") return false;
  const text = String(value);
  if (REFERENCE.test(text)) return false;
  if (isConfidential(path) || findSecrets(text, path).length > 0) return true;
  if (list !== undefined && findSecrets(list, path.slice(0, -1)).includes(text)) return true;
  return known.some((secret) => secret.length >= MIN_KNOWN_CHARS && text.includes(secret));
}

/** Shorter values are too common to be recognized anywhere in a text. */
const MIN_KNOWN_CHARS = 6;

/** Visits the scalars of a document, including keys, with their paths. */
function walk(
  node: unknown,
  path: ConfigPath,
  visit: (scalar: Scalar, path: ConfigPath, list?: readonly unknown[]) => void,
  list?: readonly unknown[],
): void {
  if (isMap(node))
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : "?";
      walk(value, [...path, name], visit);
    }
  else if (isSeq(node)) {
    const values = node.items.map((item) => (isScalar(item) ? item.value : undefined));
    node.items.forEach((item, index) => void walk(item, [...path, index], visit, values));
  } else if (isScalar(node)) visit(node, path, list);
}

interface Comment {
  readonly start: number;
  readonly source: string;
}

/** Finds the comments of a text, which a parsed document does not locate. */
function findComments(text: string): Comment[] {
  const comments: Comment[] = [];
  let offset = 0;
  let isScalarNext = false;
  for (const lexeme of new Lexer().lex(text)) {
    // Control characters mark the start of a document, a flow collection or a scalar. The text does not contain them.
    if (CONTROL.has(lexeme)) {
      isScalarNext = lexeme === SCALAR;
      continue;
    }
    if (!isScalarNext && lexeme.startsWith("#")) comments.push({ start: offset, source: lexeme });
    isScalarNext = false;
    offset += lexeme.length;
  }
  return comments;
}

const SCALAR = "\u001f";
const CONTROL: ReadonlySet<string> = new Set(["\u0002", "\u0018", SCALAR]);

function maskComment(
  source: string,
  start: number,
  known: readonly string[],
  before: readonly Part[],
): Part[] {
  const found = [...source.matchAll(ASSIGNMENT)].flatMap((match) => {
    const [, name = "", value = ""] = match;
    return REFERENCE.test(value) ? [] : [{ at: match.index + name.length, length: value.length }];
  });
  for (const secret of known)
    if (secret.length >= MIN_KNOWN_CHARS)
      for (let at = source.indexOf(secret); at >= 0; at = source.indexOf(secret, at + secret.length))
        found.push({ at, length: secret.length });
  const parts: Part[] = [];
  for (const { at, length } of found.toSorted((a, b) => a.at - b.at)) {
    const isInside = parts.some((part) => start + at < part.end);
    if (isInside) continue;
    const number = before.filter(({ marker }) => marker.startsWith("<secret comment ")).length + parts.length;
    const marker = `<secret comment ${number + 1}>`;
    parts.push({ start: start + at, end: start + at + length, marker, replacement: marker });
  }
  return parts;
}

function createMarker(path: ConfigPath, parts: readonly Part[]): string {
  const marker = formatMarker(path);
  // Two keys with a dot can have the same path. The second secret must be entered again.
  return parts.some((part) => part.marker === marker) ? marker.replace(/>$/, ` ${parts.length}>`) : marker;
}

function formatMarker(path: ConfigPath): string {
  return `<secret ${formatPath(path).replace(/[<>\n]/g, "?")}>`;
}

function toValue(file: string, document: Document): unknown {
  try {
    return document.toJS();
  } catch {
    throw maskError(file, "", "has aliases that cannot be resolved", "Write the values out instead.");
  }
}

function isBlock(source: string): boolean {
  return /^[|>]/.test(source) || source.includes("\n");
}

function replaceParts(text: string, parts: readonly Part[]): string {
  let result = "";
  let offset = 0;
  for (const { start, end, replacement } of parts.toSorted((a, b) => a.start - b.start)) {
    if (start < offset) continue;
    result += text.slice(offset, start) + replacement;
    offset = end;
  }
  return result + text.slice(offset);
}

/** Returns the line of an offset, counted from 1. */
function getLine(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function maskError(file: string, path: string, message: string, remedy: string, line?: number): ConfigError {
  return new ConfigError([{ severity: "error", file, line, path, message, remedy }]);
}
