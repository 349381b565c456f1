import { mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConfigError, loadConfig } from "@signalbox/config";
import { configText } from "../config/versions.ts";
import { GatewayError } from "../errors.ts";
import { type Home, locateHome } from "../layout.ts";
import { restoreBackup } from "../restore.ts";
import { ASSUMED_SECRETS } from "../secrets/sources.ts";

/**
 * Restores a backup into a temporary folder next to it, checks the database and the configuration, and removes the
 * folder.
 *
 * @param home the home that was backed up
 * @throws GatewayError if the backup cannot be restored
 */
export async function tryRestore(home: Home, folder: string, now: Date): Promise<void> {
  const dir = await mkdtemp(join(dirname(folder), ".restore-test-"));
  try {
    await restoreBackup(locateHome(dir, {}), folder, now);
    const restored = locateHome(dir, {});
    const text = configText(restored.configFile);
    if (text !== configText(home.configFile)) return;
    loadConfig({ file: restored.configFile, text, env: {}, sources: ASSUMED_SECRETS });
  } catch (error) {
    // The configuration of a home may be unusable. Its copy is then as good as the original.
    if (error instanceof ConfigError) return;
    if (error instanceof GatewayError) throw error;
    throw new GatewayError("failure", `The backup ${folder} cannot be restored.`, { cause: error });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
