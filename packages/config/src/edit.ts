import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { ConfigError, type ConfigPath, formatPath, parsePath } from "./problem.ts";
import { parseSource } from "./source.ts";

/** A change of one value. */
export interface ConfigEdit {
  readonly path: ConfigPath;
  /** `undefined` removes the value. */
  readonly value: unknown;
}

/**
 * Changes values in the text of a configuration. Comments, order and references stay as they are.
 *
 * @param file determines the format by its extension
 * @throws ConfigError for invalid syntax, for a path through a value that is no collection, and for JSON5, whose
 *   comments would be lost
 * @example
 * ```ts
 * editConfig("signalbox.yaml", "gateway: # the port\n  port: 1\n", [{ path: ["gateway", "port"], value: 2 }]);
 * ```
 */
export function editConfig(file: string, text: string, edits: readonly ConfigEdit[]): string {
  if (file.endsWith(".json5"))
    throw editError(
      file,
      [],
      "is JSON5, whose comments would be lost",
      "Edit it by hand, or convert it to YAML.",
    );
  parseSource(file, text);
  const document = parseDocument(text);
  if (isCollection(document.contents)) useBlockStyle(document.contents);
  for (const { path, value } of edits) {
    if (path.length === 0)
      throw editError(file, path, "is not a path", "Use one such as agents.defaults.model.");
    createParents(file, document, path);
    if (value === undefined) {
      if (!document.hasIn(path))
        throw editError(file, path, "is not set", "`signalbox config show` prints what is set.");
      document.deleteIn(path);
    } else document.setIn(path, createNode(document, path, value));
  }
  if (file.endsWith(".json")) return `${JSON.stringify(document.toJS() ?? {}, null, 2)}\n`;
  return isEmptyDocument(document) ? formatComments(document) : document.toString({ lineWidth: 0 });
}

function isEmptyDocument({ contents }: Document): boolean {
  return contents === null || (isMap(contents) && contents.items.length === 0);
}

/** Formats an empty file as its comments, without `{}`, so that a section can be appended by hand. */
function formatComments({ commentBefore, contents, comment }: Document): string {
  const comments = [commentBefore, contents?.comment, comment].filter(Boolean);
  return comments.length === 0 ? "" : `${comments.join("\n").replace(/^(?=.)/gm, "#")}\n`;
}

/** Writes the entries that are added to an empty collection on their own lines. */
function useBlockStyle(collection: YAMLMap | YAMLSeq): void {
  if (collection.items.length === 0) collection.flow = false;
}

/**
 * Parses a path such as `channels.telegram.accounts.main` or `agents.list[0].model`.
 *
 * @throws ConfigError
 */
export function parseConfigPath(file: string, text: string): ConfigPath {
  const path = parsePath(text);
  if (path !== undefined && path.length > 0) return path;
  throw editError(
    file,
    [],
    `"${text}" is not a path`,
    "Write a path such as agents.defaults.model or agents.list[0].model.",
  );
}

/** Creates a node with the comments of the node that it replaces. */
function createNode(document: Document, path: ConfigPath, value: unknown) {
  const node = document.createNode(value);
  const isSection = isCollection(node) && node.items.length > 0;
  return withComments(node, document.getIn(path, true), isSection);
}

/** Moves the comment beside a value above the entries, if the new value is a section. */
function withComments(node: Node, replaced: unknown, isSection: boolean): Node {
  if (!isNode(replaced)) return node;
  const { comment, commentBefore } = replaced;
  const above = [commentBefore, isSection && comment].filter(Boolean).join("\n");
  if (above !== "") node.commentBefore = above;
  if (!isSection && comment) node.comment = comment;
  return node;
}

/** Turns empty values above a path, such as `models:`, into collections. */
function createParents(file: string, document: Document, path: ConfigPath): void {
  for (const [index, step] of path.slice(1).entries()) {
    const above = path.slice(0, index + 1);
    const node = document.getIn(above, true);
    if (node === undefined) return;
    if (isSeq(node) && typeof step !== "number")
      throw editError(
        file,
        above,
        `is a list and has no key "${step}"`,
        `Use the position of an entry, such as ${formatPath(above)}[0], or set the whole list.`,
      );
    if (isMap(node) && typeof step === "number")
      throw editError(
        file,
        above,
        "is not a list",
        `Use one of its keys, such as ${formatPath(above)}.main.`,
      );
    if (isCollection(node)) {
      useBlockStyle(node);
      continue;
    }
    if (!isScalar(node) || node.value !== null)
      throw editError(
        file,
        above,
        "is a single value with nothing below it",
        "Unset it first, or use another path.",
      );
    document.setIn(above, withComments(document.createNode(typeof step === "number" ? [] : {}), node, true));
  }
}

function editError(file: string, path: ConfigPath, message: string, remedy: string): ConfigError {
  return new ConfigError([{ severity: "error", file, path: formatPath(path), message, remedy }]);
}
