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

/** A value that is to stand at a place, or `undefined` for none. */
export interface ConfigEdit {
  readonly path: ConfigPath;
  readonly value: unknown;
}

/**
 * The text of a configuration with some values changed: comments, order and references stay as they are.
 *
 * @param file tells the format by its ending
 * @throws ConfigError for a text that cannot be read, a path through something that holds nothing, and JSON5, whose
 *   comments could not be kept
 */
export function editConfig(file: string, text: string, edits: readonly ConfigEdit[]): string {
  if (file.endsWith(".json5"))
    throw fault(
      file,
      [],
      "is JSON5, whose comments would be lost",
      "Edit it by hand, or convert it to YAML.",
    );
  parseSource(file, text);
  const document = parseDocument(text);
  if (isCollection(document.contents)) unfold(document.contents);
  for (const { path, value } of edits) {
    if (path.length === 0)
      throw fault(file, path, "is not a path", "Give one, such as agents.defaults.model.");
    makeRoom(file, document, path);
    if (value === undefined) {
      if (!document.hasIn(path))
        throw fault(file, path, "is not set", "`signalbox config show` prints what is set.");
      document.deleteIn(path);
    } else document.setIn(path, nodeOf(document, path, value));
  }
  if (file.endsWith(".json")) return `${JSON.stringify(document.toJS() ?? {}, null, 2)}\n`;
  return isNothingSet(document) ? commentsOf(document) : document.toString({ lineWidth: 0 });
}

function isNothingSet({ contents }: Document): boolean {
  return contents === null || (isMap(contents) && contents.items.length === 0);
}

/** What is left of a file in which nothing is set: a section pasted into it need not fit to a `{}`. */
function commentsOf({ commentBefore, contents, comment }: Document): string {
  const comments = [commentBefore, contents?.comment, comment].filter(Boolean);
  return comments.length === 0 ? "" : `${comments.join("\n").replace(/^(?=.)/gm, "#")}\n`;
}

/** What an empty collection is filled with later stands on lines of its own. */
function unfold(collection: YAMLMap | YAMLSeq): void {
  if (collection.items.length === 0) collection.flow = false;
}

/** `channels.telegram.accounts.main` or `agents.list[0].model` as a path. @throws ConfigError */
export function configPath(file: string, text: string): ConfigPath {
  const path = parsePath(text);
  if (path !== undefined && path.length > 0) return path;
  throw fault(
    file,
    [],
    `"${text}" is not a path`,
    "Write a path such as agents.defaults.model or agents.list[0].model.",
  );
}

/** The value with the comments that stand beside what was there. */
function nodeOf(document: Document, path: ConfigPath, value: unknown) {
  const node = document.createNode(value);
  const isSection = isCollection(node) && node.items.length > 0;
  return withComments(node, document.getIn(path, true), isSection);
}

/** What stood beside a value stands above what a section holds, as it does in one that was not empty before. */
function withComments(node: Node, before: unknown, isSection: boolean): Node {
  if (!isNode(before)) return node;
  const { comment, commentBefore } = before;
  const above = [commentBefore, isSection && comment].filter(Boolean).join("\n");
  if (above !== "") node.commentBefore = above;
  if (!isSection && comment) node.comment = comment;
  return node;
}

/** Sections above a place that are empty, as `models:` is, become such as can hold it. */
function makeRoom(file: string, document: Document, path: ConfigPath): void {
  for (const [index, step] of path.slice(1).entries()) {
    const above = path.slice(0, index + 1);
    const node = document.getIn(above, true);
    if (node === undefined) return;
    if (isSeq(node) && typeof step !== "number")
      throw fault(
        file,
        above,
        `is a list, so it has no "${step}"`,
        `Give an entry's position, such as ${formatPath(above)}[0], or set the whole list.`,
      );
    if (isMap(node) && typeof step === "number")
      throw fault(file, above, "is not a list", `Give one of its keys, such as ${formatPath(above)}.main.`);
    if (isCollection(node)) {
      unfold(node);
      continue;
    }
    if (!isScalar(node) || node.value !== null)
      throw fault(
        file,
        above,
        "is a single value with nothing below it",
        "Unset it first, or use another path.",
      );
    document.setIn(above, withComments(document.createNode(typeof step === "number" ? [] : {}), node, true));
  }
}

function fault(file: string, path: ConfigPath, message: string, remedy: string): ConfigError {
  return new ConfigError([{ severity: "error", file, path: formatPath(path), message, remedy }]);
}
