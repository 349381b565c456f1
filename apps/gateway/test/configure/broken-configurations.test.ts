import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatProblem } from "@signalbox/config";
import { locateHome, openVault, readConfig } from "@signalbox/home";
import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { resolveConfig } from "../../src/configure/resolve-config.ts";

interface Broken {
  readonly config: string;
  readonly says: readonly string[];
}

const broken: readonly Broken[] = parse(
  readFileSync(new URL("./broken-configurations.yaml", import.meta.url), "utf8"),
);

/** What there is to choose from grows with other features. */
const LISTS = /(Valid (?:keys|sections) are )[^.]*\./;

/** What `config check` and a start say of a configuration, the folder of the home left out. */
async function saidOf(text: string): Promise<string[]> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-broken-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  writeFileSync(home.configFile, text);
  const shown = (line: string): string =>
    line.replaceAll(home.configFile, "signalbox.yaml").replaceAll(dir, "<home>").replace(LISTS, "$1….");
  try {
    const loaded = readConfig(home, {});
    const logger = createLogger("silent", String);
    const { problems } = await resolveConfig({ home, loaded, logger, env: {}, vault: openVault(loaded, {}) });
    return problems.map((problem) => shown(`${problem.severity}: ${formatProblem(problem)}`));
  } catch (error) {
    return [`refused: ${shown(String(error instanceof Error ? error.message : error))}`];
  }
}

it.each(broken)("$config", async ({ config, says }) => {
  expect(await saidOf(config)).toEqual(says);
});

it("are many", () => {
  expect(broken.length).toBeGreaterThanOrEqual(60);
});
