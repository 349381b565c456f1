import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { type Home, locateHome } from "../layout.ts";
import { restoreBackup } from "../restore.ts";
import { backupHome } from "./backup.ts";
import { listScheduledBackups, rotateBackups } from "./rotation.ts";
import { tryRestore } from "./try-restore.ts";

const NOW = new Date("2026-11-29T12:00:00.000Z");

/** Calls a function before each file is opened. */
function beforeOpen(happens: (path: string) => void): void {
  const open = fs.open;
  const spy = vi.spyOn(fs, "open").mockImplementation(async (path, ...rest) => {
    happens(String(path));
    return open(path, ...rest);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

async function createHome(): Promise<{ readonly dir: string; readonly home: Home }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-whole-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const files = {
    "signalbox.yaml": "gateway: { port: 1 }\n",
    "config-history/2026.yaml": "",
    "workspaces/main/AGENTS.md": "be kind\n",
    "workspaces/main/run.sh": "echo\n",
    "skills/tea/SKILL.md": "tea\n",
    "secrets/key": "sk-1\n",
    token: "t-1\n",
    "logs/gateway.log": "log\n",
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, "home", path)), { recursive: true });
    writeFileSync(join(dir, "home", path), text, { mode: path.endsWith(".sh") ? 0o700 : 0o600 });
  }
  symlinkSync("/etc/passwd", join(dir, "home/workspaces/main/link"));
  const home = locateHome(join(dir, "home"), {});
  const store = await openStore({ path: home.databaseFile });
  await store.kv.set("test", "note", "old");
  await store.close();
  return { dir, home };
}

it("restores the configuration, workspaces and skills, and keeps what they replace", async () => {
  const { dir, home } = await createHome();
  const backup = join(dir, "backup");
  const report = await backupHome(home, backup);
  expect(report.home).toMatchObject({ files: 5, leftOut: ["workspaces/main/link"] });
  expect(readdirSync(backup).toSorted()).toEqual([
    "backup.json",
    "config-history",
    "media",
    "signalbox.db",
    "signalbox.yaml",
    "skills",
    "workspaces",
  ]);
  writeFileSync(join(home.dir, "workspaces/main/AGENTS.md"), "changed\n");
  writeFileSync(join(home.dir, "workspaces/main/new.md"), "new\n");
  const { before, files } = await restoreBackup(home, backup, NOW);
  expect(files).toBe(5);
  expect(readFileSync(join(home.dir, "workspaces/main/AGENTS.md"), "utf8")).toBe("be kind\n");
  expect(statSync(join(home.dir, "workspaces/main/run.sh")).mode & 0o777).toBe(0o700);
  expect(existsSync(join(home.dir, "workspaces/main/new.md"))).toBe(false);
  expect(readFileSync(join(before ?? "", "workspaces/main/AGENTS.md"), "utf8")).toBe("changed\n");
  expect(readFileSync(join(home.dir, "secrets/key"), "utf8")).toBe("sk-1\n");
});

it("contains secrets only on request, and restores them into an empty home", async () => {
  const { dir, home } = await createHome();
  await backupHome(home, join(dir, "plain"));
  expect(existsSync(join(dir, "plain/secrets"))).toBe(false);
  expect(existsSync(join(dir, "plain/token"))).toBe(false);
  await backupHome(home, join(dir, "full"), { secrets: true });
  const other = locateHome(join(dir, "other"), {});
  await restoreBackup(other, join(dir, "full"), NOW);
  expect(readFileSync(join(other.dir, "secrets/key"), "utf8")).toBe("sk-1\n");
  expect(statSync(join(other.dir, "secrets/key")).mode & 0o077).toBe(0);
});

it.each([
  ["changed", (backup: string) => writeFileSync(join(backup, "workspaces/main/AGENTS.md"), "forged")],
  ["missing", (backup: string) => rmSync(join(backup, "skills/tea/SKILL.md"))],
  [
    "no regular file",
    (backup: string) => {
      rmSync(join(backup, "signalbox.yaml"));
      symlinkSync("/etc/passwd", join(backup, "signalbox.yaml"));
    },
  ],
  [
    "damaged",
    (backup: string) => {
      const manifest = JSON.parse(readFileSync(join(backup, "backup.json"), "utf8"));
      manifest.files[0].path = "workspaces/../../outside";
      writeFileSync(join(backup, "backup.json"), JSON.stringify(manifest));
    },
  ],
])("restores nothing if a file of the backup is %s", async (word, harm) => {
  const { dir, home } = await createHome();
  const backup = join(dir, "backup");
  await backupHome(home, backup);
  harm(backup);
  await expect(tryRestore(home, backup, NOW)).rejects.toThrow(word);
  await expect(restoreBackup(home, backup, NOW)).rejects.toThrow(word);
  expect(readFileSync(join(home.dir, "workspaces/main/AGENTS.md"), "utf8")).toBe("be kind\n");
  expect(readdirSync(home.dir).filter((name) => name.startsWith("before-"))).toEqual([]);
});

it("keeps the newest scheduled backups, and removes nothing else", async () => {
  const { dir, home } = await createHome();
  const backups = join(dir, "backups");
  mkdirSync(join(backups, "mine"), { recursive: true });
  const options = { dir: backups, keep: 2, secrets: false };
  for (const day of [1, 2, 3]) await rotateBackups(home, options, new Date(NOW.getTime() + day * 86_400_000));
  expect(readdirSync(backups).toSorted()).toEqual([
    "mine",
    "scheduled-2026-12-01T12-00-00.000Z",
    "scheduled-2026-12-02T12-00-00.000Z",
  ]);
  expect((await listScheduledBackups(backups)).map(({ at }) => at)).toEqual(
    [2, 3].map((day) => NOW.getTime() + day * 86_400_000),
  );
});

it("removes no scheduled backup if the new one fails", async () => {
  const { dir, home } = await createHome();
  const backups = join(dir, "backups");
  await rotateBackups(home, { dir: backups, keep: 1, secrets: false }, NOW);
  rmSync(home.databaseFile);
  await expect(
    rotateBackups(home, { dir: backups, keep: 1, secrets: false }, new Date(NOW.getTime() + 1)),
  ).rejects.toThrow();
  expect(readdirSync(backups)).toEqual(["scheduled-2026-11-29T12-00-00.000Z"]);
});

it.each(["EACCES", "EPERM"])(
  "leaves out a file that cannot be read because of %s, and copies the others",
  async (code) => {
    const { dir, home } = await createHome();
    beforeOpen((path) => {
      if (path === join(home.dir, "workspaces/main/run.sh"))
        throw Object.assign(new Error("closed"), { code });
    });
    const report = await backupHome(home, join(dir, "backup"));
    expect(report.home).toMatchObject({
      files: 4,
      leftOut: ["workspaces/main/link", "workspaces/main/run.sh"],
    });
    await tryRestore(home, join(dir, "backup"), NOW);
  },
);

it("fails if the backup cannot be written", async () => {
  const { dir, home } = await createHome();
  beforeOpen((path) => {
    if (path === join(dir, "backup/workspaces/main/run.sh"))
      throw Object.assign(new Error("closed"), { code: "EACCES" });
  });
  await expect(backupHome(home, join(dir, "backup"))).rejects.toThrow("closed");
});

it.each([
  ["a file", "workspaces/main/key", "secrets/key"],
  ["a folder", "workspaces/main", "secrets"],
])("copies no secret if %s is replaced with a link before it is opened", async (_, replaced, target) => {
  const { dir, home } = await createHome();
  const place = join(home.dir, replaced);
  writeFileSync(join(home.dir, "workspaces/main/key"), "mine\n");
  beforeOpen((path) => {
    if (path !== join(home.dir, "workspaces/main/key")) return;
    renameSync(place, join(dir, "old"));
    symlinkSync(join(home.dir, target), place);
  });
  const report = await backupHome(home, join(dir, "backup"));
  expect(existsSync(join(dir, "backup/workspaces/main/key"))).toBe(false);
  expect(report.home.leftOut).toContain("workspaces/main/key");
});

it("copies and restores a file that is larger than one chunk", async () => {
  const { dir, home } = await createHome();
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index}\n`).join(""));
  writeFileSync(join(home.dir, "workspaces/main/large"), bytes);
  await backupHome(home, join(dir, "backup"));
  const other = locateHome(join(dir, "other"), {});
  await restoreBackup(other, join(dir, "backup"), NOW);
  expect(readFileSync(join(other.dir, "workspaces/main/large")).equals(bytes)).toBe(true);
});
