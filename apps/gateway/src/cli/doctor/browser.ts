import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import { startSandbox } from "@signalbox/tools";
import { type BrowserPrograms, findBrowserPrograms } from "../../configure/browser-programs.ts";
import type { HostPackages } from "../../configure/host-packages.ts";
import { type Finding, runCheck } from "./finding.ts";

const REMEDY = "Install what is missing, or set tools.browser.enabled to false. See docs/guides/browser.md.";

/**
 * Checks whether agents' browsers can start. Missing programs are problems of the configuration, so they are not
 * reported again.
 */
export async function checkBrowser(config: Config, home: Home, packages: HostPackages): Promise<Finding[]> {
  if (!config.tools.browser.enabled) return [];
  const programs = findBrowserPrograms(config, { home, packages });
  return "key" in programs ? [] : [await runCheck("browser", () => describeBrowser(programs), REMEDY)];
}

/** @throws Error if the sandbox or the browser does not start */
async function describeBrowser({
  executable,
  executableDir,
  serverVersion,
}: BrowserPrograms): Promise<string> {
  const sandbox = await startSandbox();
  if (sandbox.open === undefined)
    throw new Error(`the sandbox of browsers does not start: ${sandbox.reason ?? "it is not available"}`);
  const dir = await realpath(await mkdtemp(join(tmpdir(), "signalbox-browser-")));
  try {
    const { output, exitCode } = await sandbox.run({
      script: '"$BROWSER" --version',
      env: { BROWSER: executable },
      folders: { dir, readOnlyDirs: executableDir === undefined ? [] : [executableDir], forbidden: [] },
      cwd: dir,
      protect: { files: [], folders: [] },
      covers: [],
      signal: AbortSignal.timeout(20_000),
    });
    if (exitCode !== 0)
      throw new Error(`${executable} does not start in the sandbox: ${output.trim().slice(0, 300)}`);
    return `${output.trim().split("\n").at(-1)} with @playwright/mcp ${serverVersion}, in the sandbox`;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
