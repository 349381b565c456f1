import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLifecycle } from "@signalbox/lanes";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { backupHome } from "./backup/backup.ts";
import { readConfig } from "./config/read.ts";
import { prepareHome } from "./folders.ts";
import { locateHome } from "./layout.ts";
import { getNodeId } from "./node.ts";
import { openHome } from "./open-home.ts";
import { restoreBackup } from "./restore.ts";

function createHome(name = "home") {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-node-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(join(dir, name), {});
  prepareHome(home);
  return { dir, home };
}

it("keeps the id of a home, also when the home is moved", () => {
  const { dir, home } = createHome();
  const id = getNodeId(home);
  expect(getNodeId(home)).toBe(id);
  if (process.getuid !== undefined) expect(statSync(home.nodeFile).mode & 0o777).toBe(0o600);
  renameSync(home.dir, join(dir, "moved"));
  expect(getNodeId(locateHome(join(dir, "moved"), {}))).toBe(id);
});

it("creates a new id if the file is empty after a power failure", () => {
  const { home } = createHome();
  writeFileSync(home.nodeFile, "");
  const id = getNodeId(home);
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(getNodeId(home)).toBe(id);
});

it("gives a home that is restored from a backup its own id", async () => {
  const { dir, home } = createHome();
  const id = getNodeId(home);
  await (await openStore({ path: home.databaseFile })).close();
  const backup = join(dir, "backup");
  await backupHome(home, backup);
  expect(readdirSync(backup)).not.toContain("node-id");
  const other = locateHome(join(dir, "other"), {});
  await restoreBackup(other, backup, new Date());
  expect(existsSync(other.nodeFile)).toBe(false);
  expect(getNodeId(other)).not.toBe(id);
  // A restore replaces the data of a home and leaves its identity alone.
  await restoreBackup(home, backup, new Date());
  expect(getNodeId(home)).toBe(id);
});

it("lets two gateways whose homes have the same path write to one store", async () => {
  const { dir, home } = createHome();
  const shared = { ...home, databaseFile: join(dir, "shared.db") };
  const lifecycle = createLifecycle(() => {});
  onTestFinished(() => lifecycle.stop(0));
  const open = () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const loaded = readConfig(shared, {});
    return openHome(
      { home: shared, loaded, leaseMs: 60_000, redact: (text) => text, logger, now: Date.now },
      lifecycle,
    );
  };
  const one = await open();
  // As on another machine, whose home has the same path.
  renameSync(home.dir, join(dir, "of another machine"));
  const two = await open();
  const renewed = await two.store.leases.renew([one.lease, two.lease], 60_000);
  expect(renewed.map(({ holder }) => holder)).toEqual(expect.arrayContaining([one.node, two.node]));
  expect(renewed).toHaveLength(2);
});
