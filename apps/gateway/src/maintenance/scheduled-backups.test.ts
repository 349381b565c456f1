import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BackupsConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createScheduledBackups } from "./scheduled-backups.ts";

const HOUR = 3_600_000;

it("makes a backup when one is due by the current settings, and reports failures", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-scheduled-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  await (await openStore({ path: home.databaseFile })).close();
  let now = Date.UTC(2026, 10, 29);
  let settings: BackupsConfig = { keep: 2, dir: "backups", secrets: false };
  const errors: string[] = [];
  const ignore = (): void => {};
  const logger = {
    debug: ignore,
    info: ignore,
    warn: ignore,
    error: (_: object, message: string) => errors.push(message),
  };
  const backups = createScheduledBackups({ home, settings: () => settings, logger, now: () => now });
  const count = async (): Promise<number> => {
    await backups.check();
    return readdirSync(dir).includes("backups") ? readdirSync(join(dir, "backups")).length : 0;
  };
  expect(await count()).toBe(0);
  settings = { ...settings, everyHours: 24 };
  expect(await count()).toBe(1);
  now += 23 * HOUR;
  expect(await count()).toBe(1);
  now += HOUR;
  expect(await count()).toBe(2);
  now += 24 * HOUR;
  expect(await count()).toBe(2);
  expect(errors).toEqual([]);
  rmSync(home.databaseFile);
  now += 24 * HOUR;
  expect(await count()).toBe(2);
  expect(errors).toEqual(["the scheduled backup failed"]);
});
