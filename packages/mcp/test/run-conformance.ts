// `npm run prove -- conformance`: every scenario of the official conformance suite that applies to the client.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const runner = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");
const client = join(import.meta.dirname, "conformance-client.ts");

/**
 * Left out: elicitation, which is not offered; documents that describe a client, which need a public address; grants
 * without a person.
 */
const SCENARIOS = [
  ...["initialize", "tools_call", "sse-retry"],
  ...["default", "var1", "var2", "var3"].map((name) => `auth/metadata-${name}`),
  ...[
    "from-www-authenticate",
    "from-scopes-supported",
    "omitted-when-undefined",
    "step-up",
    "retry-limit",
  ].map((name) => `auth/scope-${name}`),
  ...["basic", "post", "none"].map((name) => `auth/token-endpoint-auth-${name}`),
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];

let failed = false;
for (const scenario of SCENARIOS) {
  const cwd = mkdtempSync(join(tmpdir(), "mcp-conformance-"));
  const args = [runner, "client", "--command", `${process.execPath} ${client}`, "--scenario", scenario];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  rmSync(cwd, { recursive: true, force: true });
  const result = /Passed: [1-9]\d*\/\d+, \d+ failed/.exec(`${stdout}${stderr}`)?.[0] ?? "no result";
  console.log(`${scenario}: ${result}`);
  if (!result.endsWith(" 0 failed")) failed = true;
}
process.exit(failed ? 1 : 0);
