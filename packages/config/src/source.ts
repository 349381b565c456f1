import JSON5 from "json5";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { ConfigError, type ConfigPath, type Problem } from "./problem.ts";

/** A parsed configuration file that still knows where each value stands. */
export interface ConfigSource {
  readonly file: string;
  readonly value: unknown;
  /** The line of the value at `path`, or of its nearest parent that exists. */
  line(path: ConfigPath): number | undefined;
}

/**
 * Parses YAML or JSON (`.yaml`, `.yml`, `.json`) or JSON5 (`.json5`).
 * @throws ConfigError with file, line and the parser's own words
 */
export function parseSource(file: string, text: string): ConfigSource {
  if (file.endsWith(".json5")) return parseJson5(file, text);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  if (document.errors.length > 0) {
    throw new ConfigError(
      document.errors.map((error) => ({
        severity: "error",
        file,
        line: lines.linePos(error.pos[0]).line,
        path: "",
        message: `not valid ${file.endsWith(".json") ? "JSON" : "YAML"}: ${error.message}`,
        remedy: "Fix the syntax at this line.",
      })),
    );
  }
  return {
    file,
    value: resolved(file, document, lines) ?? {},
    line: (path) => lineOf(document, lines, path),
  };
}

/** @throws ConfigError where aliases stand for nothing, for what they are in, or for too much */
function resolved(file: string, document: Document, lines: LineCounter): unknown {
  const faults = aliasFaults(file, document, lines);
  if (faults.length > 0) throw new ConfigError(faults);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new ConfigError([
      {
        severity: "error",
        file,
        path: "",
        message: "its aliases (`*name`) expand to far too much",
        remedy: "Write the values out instead.",
      },
    ]);
  }
}

/** The parser lets them pass: a host such as `*.example.org` without quotes is one. */
function aliasFaults(file: string, document: Document, lines: LineCounter): Problem[] {
  const faults: Problem[] = [];
  visit(document, {
    Alias(_, alias, ancestors) {
      const target = alias.resolve(document);
      if (target !== undefined && !ancestors.includes(target)) return;
      const { source, range } = alias;
      faults.push({
        severity: "error",
        file,
        ...(range && { line: lines.linePos(range[0]).line }),
        path: "",
        ...(target === undefined
          ? {
              message: `*${source} is an alias, but there is no &${source} before it`,
              remedy: `If it is meant as text, write it in quotes: "*${source}".`,
            }
          : { message: `the alias *${source} refers to itself`, remedy: "Write the value out instead." }),
      });
    },
  });
  return faults;
}

function parseJson5(file: string, text: string): ConfigSource {
  try {
    return { file, value: JSON5.parse(text), line: () => undefined };
  } catch (error) {
    const line = error instanceof Error && "lineNumber" in error ? Number(error.lineNumber) : undefined;
    throw new ConfigError([
      {
        severity: "error",
        file,
        ...(line === undefined ? {} : { line }),
        path: "",
        message: `not valid JSON5: ${error instanceof Error ? error.message : String(error)}`,
        remedy: "Fix the syntax at this line.",
      },
    ]);
  }
}

function lineOf(document: Document, lines: LineCounter, path: ConfigPath): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const start = keyOffset(document, path.slice(0, length));
    if (start !== undefined) return lines.linePos(start).line;
  }
  return undefined;
}

/** Where the key of a map entry stands, since a block value begins on the line after its key. */
function keyOffset(document: Document, path: ConfigPath): number | undefined {
  const last = path.at(-1);
  const parent = path.length > 1 ? document.getIn(path.slice(0, -1), true) : document.contents;
  if (last !== undefined && isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === last);
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
  }
  const node = path.length > 0 ? document.getIn(path, true) : document.contents;
  return isNode(node) ? node.range?.[0] : undefined;
}
