import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

it("is made also where the home can keep no note of it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [home, folder] = [join(dir, "home"), join(dir, "monday")];
  mkdirSync(join(home, "last-backup.json"), { recursive: true });
  await (await openStore({ path: join(home, "signalbox.db") })).close();
  const { out, code } = await runCommand(hostWith(), "backup", folder, "--home", home);
  expect(code).toBe(0);
  expect(out).toContain(`Could not record the backup in ${home}`);
  expect(existsSync(join(folder, "signalbox.db"))).toBe(true);
});
