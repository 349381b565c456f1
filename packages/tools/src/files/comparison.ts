/** A text as it was and as it is to be, with the names that a patch calls them by. */
export interface Comparison {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
}

/** What becomes of a text, line by line; undefined where more lines than that go or come. */
export async function comparedLines(comparison: Comparison, mostLines: number): Promise<string | undefined> {
  const { oldName, newName, before, after } = comparison;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const headers = { headerOptions: FILE_HEADERS_ONLY };
  // Nothing has to be found out where all of it goes or comes.
  const options = before === "" || after === "" ? headers : { ...headers, maxEditLength: mostLines };
  return createTwoFilesPatch(oldName, newName, before, after, undefined, undefined, options);
}

/** All that goes, then all that comes, between the lines that both begin and end with. */
export function comparedWhole({ oldName, newName, before, after }: Comparison): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let head = 0;
  while (head < most && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const gone = old.slice(head, old.length - tail);
  const come = now.slice(head, now.length - tail);
  return [
    `--- ${oldName}\n+++ ${newName}\n`,
    `@@ -${head + 1},${gone.length} +${head + 1},${come.length} @@ shown whole\n`,
    ...gone.map((line) => patchLine("-", line)),
    ...come.map((line) => patchLine("+", line)),
  ].join("");
}

/** The lines with their ends. */
function linesOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function patchLine(sign: "-" | "+", line: string): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}
