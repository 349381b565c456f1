/** What a patch does to one file. */
export type PatchStep =
  | { readonly kind: "add"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | {
      readonly kind: "update";
      readonly path: string;
      /** Where the file goes; absent where it stays. */
      readonly moveTo?: string;
      readonly changes: readonly PatchChange[];
    };

/** Lines that take the place of others. */
export interface PatchChange {
  /** A line somewhere before it, such as the head of the function. */
  readonly after: readonly string[];
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** The old lines are the last ones of the file. */
  readonly atEnd: boolean;
}

/** A patch that is not written as patches are, or that does not fit. The message is for the model. */
export class PatchError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "PatchError";
  }
}

const MAX_FILES = 100;

/**
 * Reads the patch format that models are taught: sections of whole files between `*** Begin Patch` and `*** End Patch`.
 */
export function readPatch(text: string): readonly PatchStep[] {
  const lines = text.replaceAll("\r\n", "\n").trim().split("\n");
  if (lines[0]?.trim() !== "*** Begin Patch" || lines.at(-1)?.trim() !== "*** End Patch")
    throw new PatchError("A patch begins with `*** Begin Patch` and ends with `*** End Patch`.");
  const steps: PatchStep[] = [];
  const rest = lines.slice(1, -1);
  for (let line = rest.shift(); line !== undefined; line = rest.shift()) {
    const [, kind = "", path = ""] = /^\*\*\* (Add|Delete|Update) File: (.+)$/.exec(line.trimEnd()) ?? [];
    const body = rest.splice(0, endOfSection(rest));
    if (kind === "Add") steps.push({ kind: "add", path, text: addedText(path, body) });
    else if (kind === "Delete") steps.push({ kind: "delete", path });
    else if (kind === "Update") steps.push(readUpdate(path, body));
    else throw new PatchError(`\`${line}\` is no head of a file: \`*** Add|Delete|Update File: <path>\`.`);
  }
  if (steps.length === 0) throw new PatchError("The patch changes no file.");
  if (steps.length > MAX_FILES) throw new PatchError(`The patch changes more than ${MAX_FILES} files.`);
  return steps;
}

function endOfSection(lines: readonly string[]): number {
  const end = lines.findIndex((line) => /^\*\*\* (Add|Delete|Update) File: /.test(line));
  return end < 0 ? lines.length : end;
}

function addedText(path: string, body: readonly string[]): string {
  const wrong = body.find((line) => !line.startsWith("+"));
  if (wrong !== undefined)
    throw new PatchError(`Each line of the new file ${path} begins with \`+\`: ${wrong}`);
  return body.map((line) => `${line.slice(1)}\n`).join("");
}

function readUpdate(path: string, body: readonly string[]): PatchStep {
  const move = /^\*\*\* Move to: (.+)$/.exec(body[0] ?? "")?.[1];
  const lines = move === undefined ? body : body.slice(1);
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
    } else throw new PatchError(`A line of a change begins with a space, \`-\` or \`+\`: ${line}`);
  }
  close(false);
  if (changes.length === 0 && move === undefined) throw new PatchError(`There is no change for ${path}.`);
  return { kind: "update", path, changes, ...(move === undefined ? {} : { moveTo: move }) };
}

/** A text after its changes, in their order. @throws PatchError where one does not fit */
export function changedText(path: string, original: string, changes: readonly PatchChange[]): string {
  const isCrlf = original.includes("\r\n");
  const lines = original.replaceAll("\r\n", "\n").split("\n");
  const endsInLine = lines.at(-1) === "";
  if (endsInLine) lines.pop();
  let from = 0;
  for (const change of changes) {
    for (const head of change.after) {
      const at = placeOf(lines, [head], from, false);
      if (at === undefined) throw new PatchError(`${path} has no line \`${head}\` where it was looked for.`);
      from = at + 1;
    }
    const at =
      change.old.length === 0
        ? change.after.length > 0 && !change.atEnd
          ? from
          : lines.length
        : placeOf(lines, change.old, from, change.atEnd);
    if (at === undefined)
      throw new PatchError(
        `${path} does not have these lines${from === 0 ? "" : ` after line ${from}`}; read it and copy them exactly:\n${change.old.join("\n")}`,
      );
    lines.splice(at, change.old.length, ...change.new);
    from = at + change.new.length;
  }
  return [...lines, ...(endsInLine || original === "" ? [""] : [])].join(isCrlf ? "\r\n" : "\n");
}

/** How alike two lines have to be, the strictest first: models drop white space. */
const LIKENESS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

function placeOf(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  atEnd: boolean,
): number | undefined {
  const last = lines.length - wanted.length;
  for (const alike of LIKENESS) {
    const texts = wanted.map(alike);
    for (let at = atEnd ? Math.max(from, last) : from; at <= last; at++)
      if (texts.every((text, index) => alike(lines[at + index] ?? "") === text)) return at;
  }
  return undefined;
}
