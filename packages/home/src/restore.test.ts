import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { backupHome } from "./backup/backup.ts";
import { GatewayError } from "./errors.ts";
import { prepareHome } from "./folders.ts";
import { locateHome } from "./layout.ts";
import { restoreBackup } from "./restore.ts";

it("does not write to the backup, which may be on a read-only volume", async () => {
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

async function createBackup(): Promise<{
  readonly dir: string;
  readonly home: ReturnType<typeof locateHome>;
  readonly backup: string;
}> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-restore-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(join(dir, "home"), {});
  const backup = join(dir, "backup");
  prepareHome(home);
  await (await openStore({ path: home.databaseFile })).close();
  await backupHome(home, backup);
  return { dir, home, backup };
}

it.each(["0444", "0644", "4755"])(
  "restores files of a backup with mode %s for their owner only",
  async (text) => {
    const mode = Number.parseInt(text, 8);
    const { home, backup } = await createBackup();
    const name = "a".repeat(64);
    writeFileSync(join(backup, "media", name), "an attachment");
    chmodSync(join(backup, "media", name), mode);
    chmodSync(join(backup, "signalbox.db"), mode);
    await restoreBackup(home, backup, new Date());
    for (const file of [home.databaseFile, join(home.mediaDir, name)])
      expect(statSync(file).mode & 0o7777).toBe(0o600);
  },
);

it("restores only regular files with names of attachments", async () => {
  const { dir, home, backup } = await createBackup();
  const outside = join(dir, "outside");
  mkdirSync(outside);
  const name = (letter: string) => letter.repeat(64);
  writeFileSync(join(outside, name("f")), "of others");
  writeFileSync(join(backup, "media", name("a")), "an attachment");
  writeFileSync(join(backup, "media", "x.tmp"), "not one");
  mkdirSync(join(backup, "media", name("b")));
  symlinkSync(outside, join(backup, "media", name("c")));
  symlinkSync(join(outside, name("f")), join(backup, "media", name("d")));
  await restoreBackup(home, backup, new Date());
  expect(readdirSync(home.mediaDir)).toEqual([name("a")]);
});

it("refuses a backup with a link in the place of the folder of attachments", async () => {
  const { dir, home, backup } = await createBackup();
  const outside = join(dir, "outside");
  mkdirSync(outside);
  writeFileSync(join(outside, "f".repeat(64)), "of others");
  rmSync(join(backup, "media"), { recursive: true });
  symlinkSync(outside, join(backup, "media"));
  const restoring = restoreBackup(home, backup, new Date());
  await expect(restoring).rejects.toThrow(GatewayError);
  await expect(restoring).rejects.toThrow("media is not a folder");
  expect(readdirSync(home.dir).filter((name) => name.startsWith("before-restore"))).toEqual([]);
  expect(readdirSync(outside)).toHaveLength(1);
});

it("refuses a backup whose folder of attachments cannot be read", async () => {
  const { home, backup } = await createBackup();
  const lstat = vi.spyOn(fs, "lstat");
  lstat.mockRejectedValueOnce(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
  syncBuiltinESMExports();
  onTestFinished(() => {
    lstat.mockRestore();
    syncBuiltinESMExports();
  });
  const restoring = restoreBackup(home, backup, new Date());
  await expect(restoring).rejects.toThrow(GatewayError);
  await expect(restoring).rejects.toThrow("media cannot be read: EIO");
  expect(readdirSync(home.dir).filter((name) => name.startsWith("before-restore"))).toEqual([]);
});

it("restores a backup without attachments", async () => {
  const { home, backup } = await createBackup();
  rmSync(join(backup, "media"), { recursive: true });
  await restoreBackup(home, backup, new Date());
  expect(readdirSync(home.dir)).not.toContain("media");
});

it("refuses a backup whose database is not a regular file", async () => {
  const { home, backup } = await createBackup();
  rmSync(join(backup, "signalbox.db"));
  symlinkSync(home.databaseFile, join(backup, "signalbox.db"));
  await expect(restoreBackup(home, backup, new Date())).rejects.toThrow("not a regular file");
});
