import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openStore, type SqliteStore, type StoreOptions } from "../src/index.ts";

export * from "../src/testkit/suites/support.ts";

/** The version of a file that every migration has been applied to. */
export const LATEST_VERSION = fs
  .readdirSync(new URL("../migrations/", import.meta.url))
  .filter((name) => name.endsWith(".sql")).length;

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(join(os.tmpdir(), "signalbox-store-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A store in memory, or where the options say, with a clock that stands still until it is moved. */
export async function testStore(
  options: Partial<StoreOptions> = {},
): Promise<{ store: SqliteStore; time: { now: number } }> {
  const time = { now: Date.UTC(2026, 10, 21, 12) };
  const store = await openStore({ path: ":memory:", clock: () => time.now, ...options });
  onTestFinished(() => store.close());
  return { store, time };
}
