import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { SuiteReporter } from "./scripts/reporter.mjs";
import { SCRATCH } from "./scripts/scratch.ts";
import { ProofsFirst } from "./scripts/sequencer.mjs";
import { root, workspaceMembers } from "./scripts/workspace.mjs";

/** Time limit for a test, in milliseconds. No test takes this long, even on a busy machine, unless it hangs. */
const MAX_TEST_MS = 240_000;

const limits = {
  testTimeout: MAX_TEST_MS,
  hookTimeout: MAX_TEST_MS,
  expect: { poll: { timeout: MAX_TEST_MS / 2 } },
  // The report of `npm test` has only the message of a failed assertion, so it contains the values.
  chaiConfig: { truncateThreshold: 1_000 },
};

/** Suites that Vite loads: Node.js cannot load JSX, and the gateway's tests mostly use built packages. */
const BY_VITE = ["@signalbox/console", "@signalbox/gateway"];

/** Built files, which Node.js imports directly, because transforming them would take longer than most suites. */
const BUILT = /\/(?:apps|packages)\/[^/]+\/dist\//;

/** Returns the options that let Node.js load the sources, which takes a tenth less processor time than Vite. */
const runner = (name) =>
  BY_VITE.includes(name)
    ? { server: { deps: { external: [BUILT] } } }
    : { experimental: { viteModuleRunner: false } };

/** Suites use temporary files in memory, except for the gateway's, which tests crashes on a real disk. */
const temporary = (name) => (name === "@signalbox/gateway" ? {} : { env: { TMPDIR: SCRATCH } });

/** Returns the file that starts a server for a whole suite, if the package has one. */
function globalSetup(folder) {
  const file = join(folder, "test", "global-setup.ts");
  return existsSync(file) ? { globalSetup: file } : {};
}

const suites = workspaceMembers().map(({ folder, manifest }) => ({
  root: folder,
  test: {
    name: manifest.name,
    // Templates for new packages have their own tests, whose dependencies are not installed here.
    exclude: [...configDefaults.exclude, "template/**"],
    // The files of a suite share imported modules, because importing takes longer than most of the tests.
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

/** In the folder of a package, only its suite runs, because setting up all projects takes longer than many suites. */
const here = suites.filter((suite) => suite.root === process.cwd());

/**
 * In `npm test`, suites run in parallel with one worker each, because a second worker would import everything again.
 * The gateway's suite is the longest and often waits for processes and sockets, so it gets more workers than cores.
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
