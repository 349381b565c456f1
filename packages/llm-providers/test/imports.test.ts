import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

const run = promisify(execFile);

/** Imports a module in a process of its own and lists the packages that were loaded with it. */
async function packagesOf(path: string): Promise<string[]> {
  const url = new URL(`../src/${path}`, import.meta.url);
  const program = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context);
      const at = found.url.lastIndexOf("/node_modules/");
      if (at >= 0) seen.add(found.url.slice(at + 14).split("/").slice(0, found.url[at + 14] === "@" ? 2 : 1).join("/"));
      return found;
    } });
    await import(${JSON.stringify(url.href)});
    console.log(JSON.stringify([...seen]));`;
  const { stdout } = await run(process.execPath, ["--no-warnings", "--input-type=module", "-e", program], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
  });
  return JSON.parse(stdout);
}

const SDKS = Object.keys(manifest.peerDependencies);

test.each([
  "index.ts",
  "anthropic/index.ts",
  "demo/index.ts",
  "testkit/index.ts",
  "openai-responses/index.ts",
  "openai-chat/index.ts",
  "mistral/index.ts",
  "google/index.ts",
])("importing %s loads no vendor's SDK", async (path) => {
  const loaded = await packagesOf(path);
  expect(loaded.filter((name) => SDKS.includes(name))).toEqual([]);
});
