import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { SuiteReporter } from "./scripts/reporter.mjs";
import { SCRATCH } from "./scripts/scratch.ts";
import { ProofsFirst } from "./scripts/sequencer.mjs";
import { root, workspaceMembers } from "./scripts/workspace.mjs";

/** Only what hangs takes so long, also where other work has the processor. */
const LONGEST_MS = 120_000;

const limits = {
  testTimeout: LONGEST_MS,
  hookTimeout: LONGEST_MS,
  expect: { poll: { timeout: LONGEST_MS / 2 } },
  // The report of `npm test` has only the message of a failed assertion, so it contains the values.
  chaiConfig: { truncateThreshold: 1_000 },
};

/** JSX is nothing that Node.js loads; and of the gateway most is loaded as it was built, whoever loads its sources. */
const BY_VITE = ["@signalbox/console", "@signalbox/gateway"];

/** What is built is imported as it is, by Node.js: to transform it takes longer than most suites. */
const BUILT = /\/(?:apps|packages)\/[^/]+\/dist\//;

/** To have sources loaded by Node.js itself takes a tenth less of a suite's processor time than by Vite. */
const runner = (name) =>
  BY_VITE.includes(name)
    ? { server: { deps: { external: [BUILT] } } }
    : { experimental: { viteModuleRunner: false } };

/** What a disk does to a gateway is for the proofs in its suite to show, on one; its other tests ask for memory. */
const temporary = (name) => (name === "@signalbox/gateway" ? {} : { env: { TMPDIR: SCRATCH } });

/** A suite that needs a server starts it once, in this file. */
function globalSetup(folder) {
  const file = join(folder, "test", "global-setup.ts");
  return existsSync(file) ? { globalSetup: file } : {};
}

const suites = workspaceMembers().map(({ folder, manifest }) => ({
  root: folder,
  test: {
    name: manifest.name,
    // What is written for others has tests of its own, and none of its dependencies here.
    exclude: [...configDefaults.exclude, "template/**"],
    // To import a package and what it uses takes longer than most test files: those of a suite share it.
    isolate: false,
    ...runner(manifest.name),
    ...temporary(manifest.name),
    setupFiles: [join(root, "scripts", "seed.mjs")],
    ...globalSetup(folder),
    ...limits,
  },
}));

const repository = {
  test: { name: "repository", include: ["scripts/**/*.test.mjs"], ...runner("repository"), ...limits },
};

/** In the folder of a package it is its suite alone: to set up those of all packages takes longer than many run. */
const here = suites.filter((suite) => suite.root === process.cwd());

/**
 * In `npm test` suites run beside each other, each in one process: to load a package into a second one takes longer
 * than to wait for the first. The longest waits for processes and sockets for much of its time, and gets more of them
 * than there are cores.
 */
const maxWorkers = here[0]?.test.name === "@signalbox/gateway" ? availableParallelism() + 2 : 1;
const inNpmTest =
  process.env.SIGNALBOX_TEST_HOST === undefined
    ? {}
    : { maxWorkers, reporters: ["minimal", new SuiteReporter()] };

export default defineConfig({
  test: {
    ...inNpmTest,
    sequence: { sequencer: ProofsFirst },
    projects: here.length > 0 ? here : [...suites, repository],
  },
});
