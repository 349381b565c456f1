import { execFileSync } from "node:child_process";
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
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Edit } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));

/** The bundled program does not contain the planted bugs, so the copy has none and runs the compiled files. */
const BUNDLED_PROGRAM = join("dist", "signalbox-program.js");

/** Folders of a package that a running program does not need. */
const UNUSED: ReadonlySet<string> = new Set(["test", "bench", ".turbo"]);

/** Starts a gateway with failpoints. */
const CRASH = join("apps", "gateway", "test", "proofs", "crash");

/** A copy of the built repository in which bugs can be planted. */
export interface BuildCopy {
  /** Stands for the root of the repository. */
  readonly root: string;
  /** Starts the gateway of the copy, with failpoints. */
  readonly main: string;
  /** Edits sources and builds them. Returns a function that restores the copy. */
  plant(edits: readonly Edit[]): () => void;
  remove(): void;
}

/** Copies the packages with their sources and builds. Their dependencies are shared. */
export function copyBuild(): BuildCopy {
  const copy = mkdtempSync(join(tmpdir(), "signalbox-mutants-"));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  cpSync(join(ROOT, "tsconfig.base.json"), join(copy, "tsconfig.base.json"));
  const packages = readdirSync(join(ROOT, "packages")).map((name) => join("packages", name));
  for (const folder of [...packages, join("apps", "gateway")]) {
    const from = join(ROOT, folder);
    mkdirSync(join(copy, folder), { recursive: true });
    for (const part of readdirSync(from).filter((name) => !UNUSED.has(name)))
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
      const folders = [...new Set(edits.map(({ file }) => packageOf(file)))];
      for (const edit of edits) {
        const file = join(copy, edit.file);
        writeFileSync(file, applyEdit(readFileSync(file, "utf8"), edit));
      }
      for (const folder of folders) build(join(copy, folder), edits);
      return () => {
        for (const folder of folders)
          for (const part of ["src", "dist"]) {
            rmSync(join(copy, folder, part), { recursive: true });
            cpSync(join(ROOT, folder, part), join(copy, folder, part), { recursive: true });
          }
        rmSync(join(copy, "apps", "gateway", BUNDLED_PROGRAM), { force: true });
      };
    },
    remove: () => rmSync(copy, { recursive: true, force: true }),
  };
}

/** `packages/x` of `packages/x/src/file.ts`. */
function packageOf(file: string): string {
  return file.split("/").slice(0, 2).join("/");
}

/** Builds the edited files of a package, as its own build does: some packages are bundles. */
function build(folder: string, edits: readonly Edit[]): void {
  const manifest: { scripts?: { build?: string } } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  if (manifest.scripts?.build?.includes("../../scripts/bundle.mjs")) {
    execFileSync(process.execPath, [join(ROOT, "scripts", "bundle.mjs")], { cwd: folder });
    return;
  }
  for (const { file } of edits.filter((edit) => folder.endsWith(packageOf(edit.file)))) {
    const source = file.slice(packageOf(file).length + 1);
    const text = stripTypeScriptTypes(readFileSync(join(folder, source), "utf8"));
    const compiled = source.replace(/^src/, "dist").replace(/\.ts$/, ".js");
    writeFileSync(join(folder, compiled), text.replace(/(from |import\()"(\.[^"]+)\.ts"/g, '$1"$2.js"'));
  }
}

/** @throws Error if the text to replace does not occur exactly once */
export function applyEdit(text: string, { file, from, to }: Edit): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(
      `${file} has ${more.length === 0 ? "no" : "more than one"} place that reads: ${from}\nAdapt the mutant to the source.`,
    );
  return before + to + after;
}

/** Returns the text of a source file. */
export function readSource(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}
