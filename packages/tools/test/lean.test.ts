import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

/** Program that reports which packages the import of a module loads. */
const PROBE = `
import { registerHooks } from "node:module";
const loaded = new Set();
registerHooks({ resolve(specifier, context, next) { loaded.add(specifier); return next(specifier, context); } });
await import(process.argv[1]);
process.stdout.write(JSON.stringify([...loaded]));
`;

it("does not load web packages before they are used", async () => {
  const entry = new URL("../src/index.ts", import.meta.url).href;
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", PROBE, entry]);
  const loaded: string[] = JSON.parse(stdout);
  expect(loaded).toContain("zod");
  for (const heavy of ["undici", "linkedom", "turndown", "@mozilla/readability"])
    expect(loaded).not.toContain(heavy);
});
