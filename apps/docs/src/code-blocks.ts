/** A block of code in a Markdown text. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^ *```(\w+)[^\n]*\n([\s\S]*?)^ *```$/gm)].map(
    ([, language = "", text = ""]) => ({ language, text }),
  );
}

/** The commands of a shell's block, as one would type them: without comments, whole where they go over lines. */
export function commandsOf({ text }: CodeBlock): string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** What a line has `signalbox` do, as its parameters; several where it names several. */
export function invocationsOf(line: string): string[][] {
  return line
    .split(/&&|\|\||[|;]|\$\(/)
    .map((part) => /^\s*(?:(?:npx|sudo) )?(?:npm run )?signalbox (?:-- )?(.*)$/.exec(part)?.[1])
    .filter((parameters) => parameters !== undefined)
    .map((parameters) => {
      const [typed = ""] = parameters.split(/ >|\)/);
      return (typed.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    });
}
