// What a suite leaves for `npm test` to count: `.report/suite.json` in the folder it was started in. A task's cache keeps
// it, so that a suite that is not run again is counted as it was when it ran.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = /skipped: (.+)/;

/** @typedef {{ passed: number, failed: number, skipped: number, reasons: string[] }} SuiteReport */

/** A reporter for Vitest. A test is skipped with a note, or its file prints `skipped: ` and the reason. */
export class SuiteReporter {
  #reasons = new Set();

  onUserConsoleLog({ content }) {
    const reason = SKIPPED.exec(content)?.[1];
    if (reason !== undefined) this.#reasons.add(reason);
  }

  onTestRunEnd(modules, errors) {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      const tests = [...module.children.allTests()];
      for (const test of tests) {
        const { state, note } = test.result();
        if (state in counts) counts[state]++;
        if (note !== undefined) this.#reasons.add(note);
      }
      // A file that cannot be loaded has no tests that could fail.
      if (module.state() === "failed" && !tests.some((test) => test.result().state === "failed"))
        counts.failed++;
    }
    const folder = join(process.cwd(), ".report");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "suite.json"), JSON.stringify({ ...counts, reasons: [...this.#reasons] }));
  }
}
