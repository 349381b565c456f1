/** The change that a patch makes to one file. */
export type PatchStep =
  | { readonly kind: "add"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      /** New path of the file if the patch moves it. */
      readonly moveTo?: string;
      readonly changes: readonly PatchChange[];
    };

/** A block of lines that replaces another one. */
export interface PatchChange {
  /** Lines that come before the block, in this order, such as a function header. */
  readonly after: readonly string[];
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** True if the old lines are the last lines of the file. */
  readonly atEnd: boolean;
}

/** A patch that is malformed or does not match its files. The message is written for the model. */
export class PatchError extends Error {
  override readonly name = "PatchError";
}

const MAX_FILES = 100;
const SECTION = /^\*\*\* (Add|Delete|Update) File: (.+)$/;

/**
 * Parses the patch format that models are trained on: sections for whole files between `*** Begin Patch` and `*** End
 * Patch`.
 *
 * @throws PatchError
 */
export function parsePatch(text: string): readonly PatchStep[] {
  const lines = text.replaceAll("\r\n", "\n").trim().split("\n");
  if (lines[0]?.trim() !== "*** Begin Patch" || lines.at(-1)?.trim() !== "*** End Patch")
    throw new PatchError("A patch must begin with `*** Begin Patch` and end with `*** End Patch`.");
  const steps: PatchStep[] = [];
  const end = lines.length - 1;
  for (let at = 1; at < end; ) {
    const line = lines[at] ?? "";
    const [, kind, path = ""] = SECTION.exec(line.trimEnd()) ?? [];
    if (kind === undefined)
      throw new PatchError(`\`${line}\` must be the head of a file: \`*** Add|Delete|Update File: <path>\`.`);
    if (steps.length === MAX_FILES)
      throw new PatchError(`The patch changes more than ${MAX_FILES} files. Split it.`);
    const start = at + 1;
    at = start;
    while (at < end && !SECTION.test(lines[at] ?? "")) at += 1;
    const body = lines.slice(start, at);
    if (kind === "Add") steps.push({ kind: "add", path, text: parseAddedText(path, body) });
    else if (kind === "Delete") steps.push({ kind: "delete", path });
    else steps.push(parseUpdate(path, body));
  }
  if (steps.length === 0) throw new PatchError("The patch changes no file.");
  return steps;
}

function parseAddedText(path: string, body: readonly string[]): string {
  const wrong = body.find((line) => !line.startsWith("+"));
  if (wrong !== undefined)
    throw new PatchError(`Each line of the new file ${path} must begin with \`+\`: ${wrong}`);
  return body.map((line) => `${line.slice(1)}\n`).join("");
}

function parseUpdate(path: string, body: readonly string[]): PatchStep {
  const moveTo = /^\*\*\* Move to: (.+)$/.exec(body[0] ?? "")?.[1];
  const lines = moveTo === undefined ? body : body.slice(1);
  const changes: PatchChange[] = [];
  let after: string[] = [];
  let [before, now]: [string[], string[]] = [[], []];
  const close = (atEnd: boolean): void => {
    if (before.length + now.length > 0) {
      changes.push({ after, old: before, new: now, atEnd });
      after = [];
    }
    [before, now] = [[], []];
  };
  for (const line of lines) {
    if (line === "*** End of File") close(true);
    else if (line.startsWith("@@")) {
      close(false);
      const head = line.slice(2).trim();
      if (head !== "") after.push(head);
    } else if (line.startsWith("+")) now.push(line.slice(1));
    else if (line.startsWith("-")) before.push(line.slice(1));
    else if (line.startsWith(" ") || line === "") {
      before.push(line.slice(1));
      now.push(line.slice(1));
    } else throw new PatchError(`A line of a change must begin with a space, \`-\` or \`+\`: ${line}`);
  }
  close(false);
  if (changes.length === 0 && moveTo === undefined)
    throw new PatchError(`The patch contains no change for ${path}.`);
  return { kind: "update", path, changes, moveTo };
}

/**
 * Applies changes to a text in order.
 *
 * @throws PatchError if a change does not match
 */
export function applyChanges(path: string, original: string, changes: readonly PatchChange[]): string {
  const isCrlf = original.includes("\r\n");
  const lines = original.replaceAll("\r\n", "\n").split("\n");
  const endsInLineBreak = lines.at(-1) === "";
  if (endsInLineBreak) lines.pop();
  let from = 0;
  for (const change of changes) {
    for (const head of change.after) {
      const at = findLines(lines, [head], from, false);
      if (at === undefined)
        throw new PatchError(`${path} has no line \`${head}\`${from === 0 ? "" : ` after line ${from}`}.`);
      from = at + 1;
    }
    const at =
      change.old.length === 0
        ? change.after.length > 0 && !change.atEnd
          ? from
          : lines.length
        : findLines(lines, change.old, from, change.atEnd);
    if (at === undefined)
      throw new PatchError(
        `${path} does not have these lines${from === 0 ? "" : ` after line ${from}`}; read it and copy them exactly:\n${change.old.join("\n")}`,
      );
    lines.splice(at, change.old.length, ...change.new);
    from = at + change.new.length;
  }
  return [...lines, ...(endsInLineBreak || original === "" ? [""] : [])].join(isCrlf ? "\r\n" : "\n");
}

/** Line normalizations for comparisons, strictest first. Models tend to omit whitespace. */
const NORMALIZATIONS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Returns the index of the first line of a block, in linear time (Knuth-Morris-Pratt). */
function findLines(
  lines: readonly string[],
  block: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const start = atEnd ? Math.max(from, lines.length - block.length) : from;
  for (const normalize of NORMALIZATIONS) {
    const wanted = block.map(normalize);
    const borders = getBorders(wanted);
    let matched = 0;
    for (let at = start; at < lines.length; at++) {
      const line = normalize(lines[at] ?? "");
      while (matched > 0 && wanted[matched] !== line) matched = borders[matched - 1] ?? 0;
      if (wanted[matched] === line) matched += 1;
      if (matched === wanted.length) return at - matched + 1;
    }
  }
  return undefined;
}

/** Returns, for each prefix of a block, the length of the longest proper prefix that is also its suffix. */
function getBorders(block: readonly string[]): readonly number[] {
  const borders = [0];
  let length = 0;
  for (let at = 1; at < block.length; at++) {
    while (length > 0 && block[at] !== block[length]) length = borders[length - 1] ?? 0;
    if (block[at] === block[length]) length += 1;
    borders.push(length);
  }
  return borders;
}
