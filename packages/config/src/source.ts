import JSON5 from "json5";
import {
  type Document,
  type ErrorCode,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
} from "yaml";
import { ConfigError, type ConfigPath, type Problem } from "./problem.ts";

/** A parsed configuration file that knows the line of each value. */
export interface ConfigSource {
  readonly file: string;
  readonly value: unknown;
  /** Returns the line of the value at `path`, or of its nearest existing parent. */
  line(path: ConfigPath): number | undefined;
}

/**
 * Parses YAML or JSON (`.yaml`, `.yml`, `.json`) or JSON5 (`.json5`).
 *
 * @throws ConfigError with file and line if the syntax is not valid
 */
export function parseSource(file: string, text: string): ConfigSource {
  if (text.length > MAX_CHARS)
    throw tooLarge(file, `it has ${text.length} characters; at most ${MAX_CHARS} are read`);
  if (file.endsWith(".json5")) return parseJson5(file, text);
  const lines = new LineCounter();
  // The parser's own check for duplicate keys takes quadratic time.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  // Further errors are mostly consequences of the first one.
  const [error] = document.errors;
  if (error !== undefined) throw new ConfigError([syntaxProblem(file, error, lines)]);
  assertSize(file, document);
  const duplicates = findDuplicateKeys(file, document, lines);
  if (duplicates.length > 0) throw new ConfigError(duplicates);
  return {
    file,
    value: resolveAliases(file, document, lines) ?? {},
    line: (path) => findLine(document, lines, path),
  };
}

/** Larger configurations are mistakes or attacks. Checking them would take seconds. */
const MAX_CHARS = 250_000;
/** Entries of one mapping or list. */
const MAX_ENTRIES = 5_000;
const MAX_ALIASES = 200;
/** Values that all aliases together stand for. */
const MAX_EXPANDED = 20_000;
/** Duplicate keys that are reported. */
const MAX_DUPLICATES = 20;

function tooLarge(file: string, message: string): ConfigError {
  const remedy = "Remove what is not needed, or split it between several gateways.";
  return new ConfigError([{ severity: "error", file, path: "", message, remedy }]);
}

/** @throws ConfigError for a document that would take long to check */
function assertSize(file: string, document: Document): void {
  const sizes = new Map<unknown, number>();
  let aliases = 0;
  let expanded = 0;
  visit(document, {
    Collection(_, { items }) {
      if (items.length <= MAX_ENTRIES) return;
      throw tooLarge(file, `a list or mapping has ${items.length} entries; at most ${MAX_ENTRIES} are read`);
    },
    Alias(_, alias) {
      aliases += 1;
      if (aliases > MAX_ALIASES) throw tooManyAliases(file);
      const target = alias.resolve(document);
      if (target === undefined) return;
      expanded += sizes.get(target) ?? getSize(target, document, sizes);
      if (expanded > MAX_EXPANDED) throw tooManyAliases(file);
    },
  });
}

/** Returns the number of values in a node, including the values that its aliases refer to. */
function getSize(node: unknown, document: Document, sizes: Map<unknown, number>): number {
  const known = sizes.get(node);
  if (known !== undefined) return known;
  // An alias to a node around it is reported later.
  sizes.set(node, 1);
  let size = 1;
  if (isNode(node))
    visit(node, {
      Scalar: () => {
        size += 1;
      },
      Alias: (_, alias) => {
        const target = alias.resolve(document);
        size += target === undefined ? 1 : getSize(target, document, sizes);
      },
    });
  sizes.set(node, size);
  return size;
}

function tooManyAliases(file: string): ConfigError {
  return new ConfigError([
    {
      severity: "error",
      file,
      path: "",
      message: "its aliases (`*name`) expand to too much",
      remedy: "Write the values out instead.",
    },
  ]);
}

function findDuplicateKeys(file: string, document: Document, lines: LineCounter): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        const isNew = !isScalar(key) || !seen.has(key.value);
        if (isScalar(key)) seen.add(key.value);
        if (isNew || problems.length === MAX_DUPLICATES) continue;
        const line = key.range && lines.linePos(key.range[0]).line;
        problems.push({
          severity: "error",
          file,
          line: line ?? undefined,
          path: "",
          message: `not valid ${getFormat(file)}: the key is set twice`,
          remedy: "Keep one of them.",
        });
      }
    },
  });
  return problems;
}

function getFormat(file: string): string {
  return file.endsWith(".json") ? "JSON" : "YAML";
}

const INDENTATION = {
  message: "the indentation is wrong here",
  remedy: "Align the keys of one mapping, and indent what is below a key by two more spaces.",
};
const SYNTAX: Partial<Record<ErrorCode, { readonly message: string; readonly remedy: string }>> = {
  BAD_INDENT: INDENTATION,
  BLOCK_AS_IMPLICIT_KEY: {
    message: "there is a second `: ` on this line, or the next line is indented too far",
    remedy: "Put each key on its own line, align it with its neighbours, or quote the value.",
  },
  MULTILINE_IMPLICIT_KEY: {
    message: "a `:` is missing, or the indentation is wrong here",
    remedy: "Write `key: value`, aligned with its neighbours.",
  },
  TAB_AS_INDENT: {
    message: "the line is indented with a tab",
    remedy: "Indent with spaces.",
  },
  BAD_SCALAR_START: {
    message: "the value starts with a character that has a meaning in YAML",
    remedy: "Write the value in quotes.",
  },
  UNEXPECTED_TOKEN: {
    message: "something here does not fit what is before it",
    remedy: "Check the indentation, the quotes and the commas of this line and the one before it.",
  },
  BLOCK_IN_FLOW: {
    message: "a comma is missing, or a bracket is not closed",
    remedy: "Check the commas and brackets of this line and the one before it.",
  },
};

function syntaxProblem(file: string, { code, message, pos }: YAMLParseError, lines: LineCounter): Problem {
  const format = getFormat(file);
  const isFlow = code === "BAD_INDENT" && message.startsWith("Flow");
  const known = isFlow ? SYNTAX.BLOCK_IN_FLOW : SYNTAX[code];
  return {
    severity: "error",
    file,
    line: lines.linePos(pos[0]).line,
    path: "",
    message: `not valid ${format}: ${known?.message ?? message}`,
    remedy: known?.remedy ?? "Fix the syntax at this line.",
  };
}

/** @throws ConfigError for aliases that refer to nothing or to themselves, or that expand to too much */
function resolveAliases(file: string, document: Document, lines: LineCounter): unknown {
  const problems = findAliasProblems(file, document, lines);
  if (problems.length > 0) throw new ConfigError(problems);
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch {
    throw tooManyAliases(file);
  }
}

/** The parser accepts unknown aliases, such as an unquoted host like `*.example.org`. */
function findAliasProblems(file: string, document: Document, lines: LineCounter): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      if (target !== undefined && !ancestors.includes(target)) return;
      const { source, range } = alias;
      const about =
        target === undefined
          ? {
              message: `*${source} is an alias, but there is no &${source} before it`,
              remedy: `If it is meant as text, write it in quotes: "*${source}".`,
            }
          : { message: `the alias *${source} refers to itself`, remedy: "Write the value out instead." };
      const line = range && lines.linePos(range[0]).line;
      problems.push({ severity: "error", file, line: line ?? undefined, path: "", ...about });
    },
  });
  return problems;
}

function parseJson5(file: string, text: string): ConfigSource {
  try {
    const value: unknown = JSON5.parse(text);
    return { file, value, line: createJson5Lines(text) };
  } catch (error) {
    throw new ConfigError([
      {
        severity: "error",
        file,
        line: error instanceof Error && "lineNumber" in error ? Number(error.lineNumber) : undefined,
        path: "",
        message: `not valid JSON5: ${error instanceof Error ? error.message.replace(/^JSON5: /, "") : String(error)}`,
        remedy: "Fix the syntax at this line.",
      },
    ]);
  }
}

/** Strings and comments of JSON5. */
const JSON5_TOKEN = /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/** Finds lines in JSON5 by reading it as YAML, which is a superset of it except for comments and tabs. */
function createJson5Lines(text: string): ConfigSource["line"] {
  const lines = new LineCounter();
  const withoutComments = text
    .replace(JSON5_TOKEN, (token) => (token.startsWith("/") ? token.replace(/[^\n]/g, " ") : token))
    .replaceAll("\t", " ");
  const document = parseDocument(withoutComments, { lineCounter: lines, uniqueKeys: false });
  return document.errors.length > 0 ? () => undefined : (path) => findLine(document, lines, path);
}

function findLine(document: Document, lines: LineCounter, path: ConfigPath): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const start = findKeyOffset(document, path.slice(0, length));
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}

/** Returns the offset of a key, because a block value begins on the line after it. */
function findKeyOffset(document: Document, path: ConfigPath): number | undefined {
  const last = path.at(-1);
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (last !== undefined && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === last);
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
  }
  const node = path.length > 0 ? document.getIn(path, true) : document.contents;
  return isNode(node) ? node.range?.[0] : undefined;
}
