/** A code block of a Markdown document. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

export function findCodeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^ *```(\w+)[^\n]*\n([\s\S]*?)^ *```$/gm)].map(
    ([, language = "", text = ""]) => ({ language, text }),
  );
}

/** Returns the commands of a shell block, without comments and with continued lines joined. */
export function findCommands({ text }: CodeBlock): string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** Returns the arguments of each call of `signalbox` in a line. */
export function findInvocations(line: string): string[][] {
  return line
    .split(/&&|\|\||[|;]|\$\(/)
    .map((part) => /^\s*(?:(?:npx|sudo) )?(?:npm run )?signalbox (?:-- )?(.*)$/.exec(part)?.[1])
    .filter((parameters) => parameters !== undefined)
    .map((parameters) => {
      const [typed = ""] = parameters.split(/ >|\)/);
      return (typed.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    });
}
