import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { backupHome } from "./backup/backup.ts";
import { prepareHome } from "./folders.ts";
import { locateHome } from "./layout.ts";
import { restoreBackup } from "./restore.ts";

it("writes nothing into the backup, which may be on a volume for reading alone", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-restore-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(join(dir, "home"), {});
  const backup = join(dir, "backup");
  prepareHome(home);
  const store = await openStore({ path: home.databaseFile });
  await store.kv.set("cursors", "one", 1);
  await store.close();
  await backupHome(home, backup);
  const whole = readdirSync(backup);
  await restoreBackup(home, backup, new Date());
  expect(readdirSync(backup)).toEqual(whole);
  const restored = await openStore({ path: home.databaseFile });
  onTestFinished(() => restored.close());
  expect(await restored.kv.get("cursors", "one")).toBe(1);
});
