// Writes the results of a suite to `.report/suite.json` in its folder, for `npm test`. Turbo caches the file, so that
// an unchanged suite is counted without running it again.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

const SKIPPED = /skipped: (.+)/;

/**
 * `failures`: what failed by file and name, each with the first line of its error; a log that was cut short
 * often has lost what the suite itself printed.
 * @typedef {{ passed: number, failed: number, skipped: number, reasons: string[], failures: string[] }} SuiteReport
 */

/** Vitest reporter. The reason for a skipped test is its note, or a line `skipped: <reason>` that its file prints. */
export class SuiteReporter {
  #reasons = new Set();

  onUserConsoleLog({ content }) {
    const reason = SKIPPED.exec(content)?.[1];
    if (reason !== undefined) this.#reasons.add(reason);
  }

  onTestRunEnd(modules, errors) {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    const failures = errors.map((error) => `outside of a test: ${firstLine(error)}`);
    for (const module of modules) {
      const file = module.relativeModuleId;
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const { state, note, errors: causes } = test.result();
        if (state in counts) counts[state]++;
        if (note !== undefined) this.#reasons.add(note);
        if (state === "failed") failures.push(`${file} > ${test.fullName}: ${firstLine(causes[0])}`);
      }
      // A file that cannot be loaded reports no failed test.
      if (module.state() === "failed" && !tests.some((test) => test.result().state === "failed"))
        counts.failed++;
      for (const error of module.errors()) failures.push(`${file}: ${firstLine(error)}`);
      for (const suite of module.children.allSuites())
        for (const error of suite.errors()) failures.push(`${file} > ${suite.fullName}: ${firstLine(error)}`);
    }
    const folder = join(process.cwd(), ".report");
    mkdirSync(folder, { recursive: true });
    const report = { ...counts, reasons: [...this.#reasons], failures };
    writeFileSync(join(folder, "suite.json"), JSON.stringify(report));
  }
}

function firstLine(error) {
  const text = `${error?.name ?? "Error"}: ${error?.message ?? "no reason was given"}`;
  return stripVTControlCharacters(text).split("\n")[0];
}
