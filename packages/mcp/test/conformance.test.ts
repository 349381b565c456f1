import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { published } from "./harness.ts";

const client = fileURLToPath(new URL("conformance-client.ts", import.meta.url));

const SCENARIOS = [
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/metadata-var1",
  "auth/scope-step-up",
  "auth/pre-registration",
];

/** `npm run prove -- conformance` passes the rest of them. */
it.each(SCENARIOS)("passes the published conformance runner's scenario %s", async (scenario) => {
  // The runner writes what it saw into a folder beside it.
  const cwd = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  const command = `${process.execPath} ${client}`;
  const { stderr, stdout } = await promisify(execFile)(
    process.execPath,
    [published.conformance, "client", "--command", command, "--scenario", scenario],
    { cwd },
  );
  expect(`${stdout}${stderr}`).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
});
