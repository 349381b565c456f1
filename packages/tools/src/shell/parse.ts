import { fileURLToPath } from "node:url";
import type { Node, Parser } from "web-tree-sitter";

/** The facts about a shell script that are known without running it. */
export interface ShellScript {
  /**
   * The words of each simple command. Absent if the script contains anything except simple commands joined by `;`,
   * `&&`, `||` or `|`, such as expansions, redirections, substitutions, loops or definitions.
   */
  readonly commands?: readonly (readonly string[])[];
  /** Every string in the script that could name a file, including strings in nested quoted scripts. */
  readonly words: readonly string[];
}

/** Parses a shell script using a Bash grammar. The first call loads the parser, which takes about 30 ms. */
export async function parseShell(script: string): Promise<ShellScript> {
  parser ??= loadParser();
  const tree = (await parser).parse(script);
  if (tree === null) return { words: [] };
  try {
    const isAmbiguous = AMBIGUOUS.test(script) || hasAmbiguousQuotes(tree.rootNode, script);
    const commands = isAmbiguous ? undefined : getCommands(tree.rootNode, script);
    const words = [...collectWords(tree.rootNode), ...(isAmbiguous ? splitWords(script) : [])];
    return { ...(commands === undefined ? {} : { commands }), words: [...new Set(words)] };
  } finally {
    tree.delete();
  }
}

/**
 * Matches text that the grammar parses differently from the shell: control characters, whitespace other than spaces and
 * tabs, an escaped tab, a line continuation in the middle of a word, and a word that begins with a backslash, which the
 * grammar joins to the previous line.
 */
const AMBIGUOUS = /(?![\t\n])\p{Cc}|(?! )\p{Z}|(?:[^ \t\n]|\\ )\\\n|(?:^|[\s;&|])\\(?!\n)|\\\t/u;

/**
 * Returns true for quotes that the grammar parses differently from the shell: `$'…'`, and a backslash after a quote,
 * where the grammar ends the word.
 */
function hasAmbiguousQuotes(root: Node, script: string): boolean {
  const quoted = root
    .descendantsOfType(["string", "raw_string", "ansi_c_string"])
    .filter((node) => node !== null);
  return quoted.some(
    ({ type, endIndex: end }) => type === "ansi_c_string" || /^\\[^'"]/.test(script.slice(end, end + 2)),
  );
}

/**
 * Returns every substring between blanks, quotes or operators, after joining continued lines. Includes text inside
 * quotes.
 */
function splitWords(script: string): string[] {
  const lines = script.replaceAll("\\\n", "");
  const pieces = [
    ...lines.split(/[ \t\n;|&<>()'"=]+/),
    ...lines.replace(/\$?['"]/g, "").split(/(?<!\\)[ \t\n;|&<>()=]+/),
  ];
  return pieces.map((piece) => piece.replace(/\\(.)/gs, "$1")).filter((piece) => piece !== "");
}

let parser: Promise<Parser> | undefined;

async function loadParser(): Promise<Parser> {
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init();
  const bash = new Parser();
  bash.setLanguage(await Language.load(getGrammarFile()));
  return bash;
}

/** Returns the path of the file in the built package, because this code may be bundled elsewhere. */
function getGrammarFile(): string {
  const tools = import.meta.resolve("@signalbox/tools");
  return fileURLToPath(new URL("grammar/tree-sitter-bash.wasm", tools));
}

const LIST_TYPES: ReadonlySet<string> = new Set(["program", "list", "pipeline"]);
/** Operators that join two commands on one line. */
const OPERATORS: ReadonlySet<string> = new Set([";", "&&", "||", "|"]);
const SEPARATORS: ReadonlySet<string> = new Set([...OPERATORS, "\n", "comment"]);
/** Matches whitespace within one line, including line continuations. */
const BLANKS = /^(?:[ \t]|\\\n)*$/;

function getCommands(node: Node, script: string): readonly (readonly string[])[] | undefined {
  if (node.hasError) return undefined;
  const children = getChildren(node);
  // The grammar continues the previous line at a backslash that begins a line. It also begins a new word without
  // whitespace at a backslash after a quote (`ls''\x`).
  const gapBefore = (index: number) =>
    script.slice(children[index - 1]?.endIndex ?? 0, children[index]?.startIndex);
  if (node.type === "command") {
    const areSeparated = children.every((_, index) => {
      return index === 0 || (gapBefore(index) !== "" && BLANKS.test(gapBefore(index)));
    });
    const words = children.map((child) =>
      getLiteral(child.type === "command_name" ? (child.firstChild ?? child) : child),
    );
    return areSeparated && words.every((word) => word !== undefined) ? [words] : undefined;
  }
  if (!LIST_TYPES.has(node.type)) return undefined;
  if (!children.every(({ type }, index) => !OPERATORS.has(type) || BLANKS.test(gapBefore(index))))
    return undefined;
  const parts = children.filter(({ type }) => !SEPARATORS.has(type));
  const commands = parts.map((part) => getCommands(part, script));
  return commands.every((each) => each !== undefined) ? commands.flat() : undefined;
}

/** Returns the text of a word, or undefined if the word contains an expansion. */
function getLiteral(node: Node): string | undefined {
  const { type, text } = node;
  switch (type) {
    case "word":
      return /[*?[\]{}~$`]/.test(text.replace(/\\./gs, "")) ? undefined : text.replace(/\\(.)/gs, "$1");
    case "number":
      return text;
    case "raw_string":
      return text.slice(1, -1);
    case "string": {
      const isPlain = getChildren(node).every(
        (child) => child.type === '"' || child.type === "string_content",
      );
      const content = text.slice(1, -1).replaceAll("\\\n", "");
      return isPlain ? content.replace(/\\([$`"\\])/g, "$1") : undefined;
    }
    case "concatenation": {
      const parts = getChildren(node).map(getLiteral);
      return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
    }
    default:
      return undefined;
  }
}

function collectWords(node: Node): string[] {
  const word = getLiteral(node);
  if (word === undefined) return getChildren(node).flatMap(collectWords);
  // A quoted word may contain a script, and a file may follow an option's equals sign.
  const pieces = [word, ...word.split(/[\s;|&<>()'"=]+/)];
  return pieces.filter((piece) => piece !== "");
}

function getChildren(node: Node): Node[] {
  return node.children.filter((child) => child !== null);
}
