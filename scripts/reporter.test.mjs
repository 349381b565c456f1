import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { root, run } from "./workspace.mjs";

/** Returns the report of a suite with these files. */
async function reportOf(files) {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-reporter-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const reporter = JSON.stringify(join(root, "scripts", "reporter.mjs"));
  const config = `import { SuiteReporter } from ${reporter};
    export default { test: { globals: true, reporters: [new SuiteReporter()] } };`;
  for (const [name, text] of Object.entries({ "vitest.config.mjs": config, ...files }))
    writeFileSync(join(folder, name), text);
  await run(join(root, "node_modules", ".bin", "vitest"), ["run"], { cwd: folder });
  return JSON.parse(readFileSync(join(folder, ".report", "suite.json"), "utf8"));
}

it("counts a suite, and names what failed with the first line of its error", async () => {
  const report = await reportOf({
    "sums.test.mjs": `describe("a sum", () => {
      it("is right", () => expect(1 + 1).toBe(2));
      it("is wrong", () => expect(1 + 1).toBe(3));
      it("is not added", ({ skip }) => skip("no time"));
    });`,
    "set-up.test.mjs": `describe("a world", () => {
      beforeAll(() => { throw new Error("no world today\\nin two lines"); });
      it("turns", () => {});
    });`,
    "unreadable.test.mjs": `import "./nowhere.mjs";`,
  });
  expect(report).toMatchObject({ passed: 1, failed: 3, reasons: ["no time"] });
  expect(report.failures.toSorted()).toEqual([
    "set-up.test.mjs > a world: Error: no world today",
    "sums.test.mjs > a sum > is wrong: AssertionError: expected 2 to be 3 // Object.is equality",
    expect.stringMatching(/^unreadable\.test\.mjs: Error: .*nowhere\.mjs/),
  ]);
});
