import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compileAnew, compileKept } from "./kept-code.ts";

const PARAMETERS = "exports, require, module, importMeta, importOutside";

export interface BundleOptions {
  /** Of the module that opens the bundle and lies in its folder: the modules in the bundle have it as theirs. */
  readonly meta: ImportMeta;
  /** Where compiled code is kept; undefined: nowhere. For one version of Node.js with its flags alone. */
  readonly keptIn: string | undefined;
  /** What this process does, in letters and dashes. */
  readonly purpose: string;
  /** `import()` of the module that opens the bundle. */
  readonly importOutside: (id: string) => Promise<unknown>;
}

/**
 * Opens a bundle in CommonJS that says `importMeta` for `import.meta`, and `importOutside` for `import()`. Returns what
 * loads a file of it.
 *
 * Node.js keeps the compiled code of a file as it is before the file runs, without most of its functions, and compiles
 * those again at each start. Of a bundle that is opened by this they are kept, too.
 */
export function openBundle(options: BundleOptions): (file: string) => unknown {
  const { meta, keptIn, purpose, importOutside } = options;
  const compile = keptIn === undefined ? compileAnew : compileKept(keptIn, purpose);
  const loaded = new Map<string, { readonly exports: object }>();
  const requireOutside = createRequire(meta.url);
  const load = (file: string): object => {
    const known = loaded.get(file);
    if (known !== undefined) return known.exports;
    const path = join(meta.dirname, file);
    const source = `(function (${PARAMETERS}) {${textOf(path)}\n})`;
    const run: unknown = compile(path, source).runInThisContext();
    const module = { exports: {} };
    loaded.set(file, module);
    if (typeof run === "function") run(module.exports, requireInside, module, meta, importOutside);
    return module.exports;
  };
  const requireInside = (id: string): unknown =>
    id.startsWith("./") ? load(id.slice("./".length)) : requireOutside(id);
  return load;
}

/** @throws as Node.js does for an import of a module that is not there */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { href: url } = pathToFileURL(path);
    throw Object.assign(new Error(`Cannot read ${path}`, { cause }), { code: "ERR_MODULE_NOT_FOUND", url });
  }
}
