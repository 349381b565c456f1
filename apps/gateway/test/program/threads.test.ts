import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

it("every file that is started as a thread stands beside the program", () => {
  const files = globSync(at("../../../../packages/*/src/**/*-worker.ts"));
  const threads = files.filter((file) => /^import { parentPort,/m.test(readFileSync(file, "utf8")));
  expect(threads.length).toBeGreaterThan(3);
  const missing = threads
    .map((file) => basename(file, ".ts"))
    .filter((name) => !existsSync(at(`../../dist/${name}.js`)));
  expect(missing).toEqual([]);
});
