import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Edit } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** What starts from the bundle would not meet a bug that is planted in the compiled files. */
const BUNDLED_PROGRAM = join("dist", "signalbox-program.js");

/** Parts of a package that nothing built needs. */
const SOURCES: ReadonlySet<string> = new Set(["src", "test", "bench", ".turbo"]);

/** What starts a gateway with failpoints lies here; it is no part of what is built. */
const CRASH = join("apps", "gateway", "test", "crash");

/** A copy of everything that was built, to plant bugs in. */
export interface BuildCopy {
  /** Stands for the root of the repository. */
  readonly root: string;
  /** Starts the gateway of the copy, with failpoints. */
  readonly main: string;
  /** Carries the edits out; gives what takes them back. */
  plant(edits: readonly Edit[]): () => void;
  remove(): void;
}

/** Copies the built packages as they stand to a folder of their own; what they depend on is the same. */
export function copyBuild(): BuildCopy {
  const copy = mkdtempSync(join(tmpdir(), "signalbox-mutants-"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  const packages = readdirSync(join(ROOT, "packages")).map((name) => join("packages", name));
  for (const folder of [...packages, join("apps", "gateway")]) {
    const from = join(ROOT, folder);
    mkdirSync(join(copy, folder), { recursive: true });
    for (const part of readdirSync(from).filter((name) => !SOURCES.has(name)))
      cpSync(join(from, part), join(copy, folder, part), { recursive: true, verbatimSymlinks: true });
  }
  mkdirSync(join(copy, CRASH), { recursive: true });
  rmSync(join(copy, "apps", "gateway", BUNDLED_PROGRAM));
  for (const file of ["main.ts", "failpoints.ts", "turned-clock.ts"])
    cpSync(join(ROOT, CRASH, file), join(copy, CRASH, file));
  return {
    root: copy,
    main: join(copy, CRASH, "main.ts"),
    plant(edits) {
      const before = new Map<string, string>();
      for (const edit of edits) {
        const file = join(copy, edit.file);
        const text = readFileSync(file, "utf8");
        if (!before.has(file)) before.set(file, text);
        writeFileSync(file, edited(text, edit));
      }
      return () => {
        for (const [file, text] of before) writeFileSync(file, text);
      };
    },
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

/** @throws Error where the edit does not fit what was built */
export function edited(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `${file} has ${more.length === 0 ? "no" : "more than one"} place that reads: ${from}\nMake the mutant fit what is built now.`,
    );
  return before + to + after;
}

/** The text of a built file. */
export function builtText(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
