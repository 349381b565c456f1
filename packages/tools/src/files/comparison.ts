/** Two versions of a text and their names for the header of a diff. */
export interface Comparison {
  readonly oldName: string;
  readonly newName: string;
  readonly before: string;
  readonly after: string;
}

/** Returns a unified diff, or undefined if more than `maxEdits` lines were added or removed. */
export async function compareByLine(comparison: Comparison, maxEdits: number): Promise<string | undefined> {
  const { oldName, newName, before, after } = comparison;
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const headers = { headerOptions: FILE_HEADERS_ONLY };
  // Comparing with an empty text requires no search, so it needs no limit.
  const options = before === "" || after === "" ? headers : { ...headers, maxEditLength: maxEdits };
  return createTwoFilesPatch(oldName, newName, before, after, undefined, undefined, options);
}

/** Returns a diff of everything between the first and the last differing line. Takes linear time. */
export function compareWhole({ oldName, newName, before, after }: Comparison): string {
  const [old, now] = [splitLines(before), splitLines(after)];
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  return [
    `--- ${oldName}\n+++ ${newName}\n`,
    `@@ -${head + 1},${removed.length} +${head + 1},${added.length} @@ shown whole\n`,
    ...removed.map((line) => formatLine("-", line)),
    ...added.map((line) => formatLine("+", line)),
  ].join("");
}

/** Splits a text into lines, each with its line break. */
function splitLines(text: string): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
    lines.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
}

function formatLine(sign: "-" | "+", line: string): string {
  return line.endsWith("\n") ? sign + line : `${sign}${line}\n\\ No newline at end of file\n`;
}
