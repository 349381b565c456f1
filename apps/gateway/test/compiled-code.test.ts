import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../dist/signalbox.js", import.meta.url));

it("keeps compiled code in a folder of its user, and nothing in the one for everybody's temporary files", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const folder = (name: string): string => {
    mkdirSync(join(dir, name));
    return join(dir, name);
  };
  const own = folder("own");
  const other = folder("other");
  const everybodys = folder("everybodys");
  const run = (env: NodeJS.ProcessEnv) => spawnSync(process.execPath, [program, "--version"], { env }).status;
  expect(run({ HOME: own, TMPDIR: everybodys })).toBe(0);
  expect(run({ HOME: own, XDG_CACHE_HOME: other, TMPDIR: everybodys })).toBe(0);
  expect(run({ TMPDIR: everybodys })).toBe(0);
  expect(readdirSync(join(own, ".cache", "signalbox"))).toHaveLength(1);
  expect(readdirSync(join(other, "signalbox"))).toHaveLength(1);
  expect(readdirSync(everybodys)).toEqual([]);
});
