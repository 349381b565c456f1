import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

const run = promisify(execFile);

const ENTRIES = Object.values(manifest.exports).map(({ default: file }) =>
  file.replace(/^\.\/dist\/(.*)\.js$/, "$1.ts"),
);
const SDKS = Object.keys(manifest.peerDependencies);

/** Imports each entry in its own process and lists the SDKs that were loaded. */
async function sdksOf(entries: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const urls = entries.map((entry) => new URL(`../src/${entry}`, import.meta.url).href);
  const program = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context);
      for (const sdk of ${JSON.stringify(SDKS)}) if (found.url.includes("/node_modules/" + sdk + "/")) seen.add(sdk);
      return found;
    } });
    const loaded = {};
    for (const [at, url] of ${JSON.stringify(urls)}.entries()) {
      await import(url);
      loaded[${JSON.stringify(entries)}[at]] = [...seen];
    }
    console.log(JSON.stringify(loaded));`;
  const { stdout } = await run(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  return JSON.parse(stdout);
}

let loaded: ReturnType<typeof sdksOf> | undefined;

test.each(ENTRIES)("importing %s loads no vendor's SDK", async (entry) => {
  loaded ??= sdksOf(ENTRIES);
  expect((await loaded)[entry]).toEqual([]);
});
