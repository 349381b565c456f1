import { fileURLToPath } from "node:url";
import type { Node, Parser } from "web-tree-sitter";

/** What can be said of a shell script without running it. */
export interface ShellScript {
  /**
   * The words of each simple command, where the script is nothing but such commands and what joins them (`;`, `&&`,
   * `||`, `|`). Absent where it does anything else: expands, redirects, substitutes, loops, defines.
   */
  readonly commands?: readonly (readonly string[])[];
  /** Every text in it that could name a file, nested scripts in quotes included. */
  readonly words: readonly string[];
}

/** Parses a script of the shell, by the grammar of Bash. The parser is loaded at first use (about 30 ms). */
export async function parseShell(script: string): Promise<ShellScript> {
  parser ??= loadParser();
  const tree = (await parser).parse(script);
  if (tree === null) return { words: [] };
  try {
    const isReadOtherwise = READ_OTHERWISE.test(script) || areQuotesReadOtherwise(tree.rootNode, script);
    const commands = isReadOtherwise ? undefined : commandsOf(tree.rootNode, script);
    const words = [...wordsIn(tree.rootNode), ...(isReadOtherwise ? wordsOfShell(script) : [])];
    return { ...(commands === undefined ? {} : { commands }), words: [...new Set(words)] };
  } finally {
    tree.delete();
  }
}

/**
 * What the grammar and the shell do not read alike: control characters, blanks other than spaces and tabs, a tab that
 * is escaped, a line that goes on in the middle of a word, and a word that begins with a backslash, which the grammar
 * joins to the line before.
 */
const READ_OTHERWISE = /(?![\t\n])\p{Cc}|(?! )\p{Z}|(?:[^ \t\n]|\\ )\\\n|(?:^|[\s;&|])\\(?!\n)|\\\t/u;

/** The same of quotes: `$'…'`, and a backslash behind a quote, where the grammar ends the word. */
function areQuotesReadOtherwise(root: Node, script: string): boolean {
  const quoted = root
    .descendantsOfType(["string", "raw_string", "ansi_c_string"])
    .filter((node) => node !== null);
  return quoted.some(
    ({ type, endIndex: end }) => type === "ansi_c_string" || /^\\[^'"]/.test(script.slice(end, end + 2)),
  );
}

/** Every text between two blanks, quotes or joints, as the shell puts lines together; also with what is in quotes. */
function wordsOfShell(script: string): string[] {
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
  bash.setLanguage(await Language.load(grammarFile()));
  return bash;
}

/** Beside the built package, wherever this code has been bundled to. */
function grammarFile(): string {
  const tools = import.meta.resolve("@signalbox/tools");
  return fileURLToPath(new URL("grammar/tree-sitter-bash.wasm", tools));
}

const JOINING: ReadonlySet<string> = new Set(["program", "list", "pipeline"]);
/** What joins two commands in one line. */
const OPERATORS: ReadonlySet<string> = new Set([";", "&&", "||", "|"]);
const JOINTS: ReadonlySet<string> = new Set([...OPERATORS, "\n", "comment"]);
/** Where a line goes on. */
const BLANKS = /^(?:[ \t]|\\\n)*$/;

function commandsOf(node: Node, script: string): readonly (readonly string[])[] | undefined {
  if (node.hasError) return undefined;
  const children = childrenOf(node);
  // The grammar goes on with the line before at a backslash that begins a line, and begins another word, without a
  // blank, at one behind a quote (`ls''\x`).
  const gapBefore = (index: number) =>
    script.slice(children[index - 1]?.endIndex ?? 0, children[index]?.startIndex);
  if (node.type === "command") {
    const areApart = children.every((_, index) => {
      return index === 0 || (gapBefore(index) !== "" && BLANKS.test(gapBefore(index)));
    });
    const words = children.map((child) =>
      literal(child.type === "command_name" ? (child.firstChild ?? child) : child),
    );
    return areApart && words.every((word) => word !== undefined) ? [words] : undefined;
  }
  if (!JOINING.has(node.type)) return undefined;
  if (!children.every(({ type }, index) => !OPERATORS.has(type) || BLANKS.test(gapBefore(index))))
    return undefined;
  const parts = children.filter(({ type }) => !JOINTS.has(type));
  const commands = parts.map((part) => commandsOf(part, script));
  return commands.every((each) => each !== undefined) ? commands.flat() : undefined;
}

/** The text that a word stands for, where nothing is expanded in it. */
function literal(node: Node): string | undefined {
  const { type, text } = node;
  switch (type) {
    case "word":
      return /[*?[\]{}~$`]/.test(text.replace(/\\./gs, "")) ? undefined : text.replace(/\\(.)/gs, "$1");
    case "number":
      return text;
    case "raw_string":
      return text.slice(1, -1);
    case "string": {
      const isPlain = childrenOf(node).every(
        (child) => child.type === '"' || child.type === "string_content",
      );
      const shown = text.slice(1, -1).replaceAll("\\\n", "");
      return isPlain ? shown.replace(/\\([$`"\\])/g, "$1") : undefined;
    }
    case "concatenation": {
      const parts = childrenOf(node).map(literal);
      return parts.every((part) => part !== undefined) ? parts.join("") : undefined;
    }
    default:
      return undefined;
  }
}

function wordsIn(node: Node): string[] {
  const word = literal(node);
  if (word === undefined) return childrenOf(node).flatMap(wordsIn);
  // A script may stand in quotes, and a file behind an option's equals sign.
  const pieces = [word, ...word.split(/[\s;|&<>()'"=]+/)];
  return pieces.filter((piece) => piece !== "");
}

function childrenOf(node: Node): Node[] {
  return node.children.filter((child) => child !== null);
}
