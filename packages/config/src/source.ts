import JSON5 from "json5";
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { ConfigError, type ConfigPath } from "./problem.ts";

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
        remedy: "Mend the syntax at this line.",
      })),
    );
  }
  return {
    file,
    value: document.toJS({ maxAliasCount: 100 }) ?? {},
    line: (path) => lineOf(document, lines, path),
  };
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
        remedy: "Mend the syntax at this line.",
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
