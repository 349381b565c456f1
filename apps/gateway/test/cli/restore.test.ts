import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireHomeLock, openStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "signalbox-restore-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
});

/** Attachments have the names of their hashes. */
function toBlobName(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

/** A folder with a database that has this note. */
async function folderWith(name: string, note: string): Promise<string> {
  const folder = join(dir, name);
  mkdirSync(join(folder, "media"), { recursive: true });
  writeFileSync(join(folder, "media", toBlobName(note)), note);
  const store = await openStore({ path: join(folder, "signalbox.db") });
  await store.kv.set("test", "note", note);
  await store.close();
  return folder;
}

async function noteIn(folder: string): Promise<unknown> {
  const store = await openStore({ path: join(folder, "signalbox.db"), access: "read" });
  return store.kv.get("test", "note").finally(() => store.close());
}

const restore = (home: string, folder: string) => runCommand(hostWith(), "restore", folder, "--home", home);

it("puts a backup in the place of what the home has, which stays beside it", async () => {
  const home = await folderWith("home", "new");
  const { out, code } = await restore(home, await folderWith("saved", "old"));
  expect([code, await noteIn(home)]).toEqual([0, "old"]);
  expect(readdirSync(join(home, "media"))).toEqual([toBlobName("old")]);
  const before = /is in (.*)\.$/m.exec(out)?.[1] ?? "";
  expect(await noteIn(before)).toBe("new");
  expect(readFileSync(join(before, "media", toBlobName("new")), "utf8")).toBe("new");
  expect(existsSync(join(home, "restore.part"))).toBe(false);
});

it("lists the secrets that the restored configuration needs and that are missing, without starting programs", async () => {
  const home = await folderWith("home", "new");
  const saved = await folderWith("saved", "old");
  mkdirSync(join(home, "secrets"));
  writeFileSync(join(home, "secrets/there"), "sk-there\n", { mode: 0o600 });
  const program = join(dir, "started");
  writeFileSync(
    join(home, "signalbox.yaml"),
    `models:
  providers:
    anthropic: { apiKey: "\${SIGNALBOX_TEST_NOT_SET}" }
    openai: { apiKey: { file: secrets/gone } }
    mistral: { apiKey: { file: secrets/there } }
    groq: { apiKey: { command: [touch, ${program}] } }
`,
  );
  const { out, code } = await restore(home, saved);
  expect(code).toBe(0);
  expect(out).toContain(
    "  models.providers.anthropic.apiKey: the environment variable SIGNALBOX_TEST_NOT_SET is not set\n",
  );
  expect(out).toMatch(/models\.providers\.openai\.apiKey: cannot read a secret from the file secrets\/gone/);
  expect(out).not.toMatch(/mistral|groq|sk-there/);
  expect(existsSync(program)).toBe(false);
  expect((await restore(join(dir, "empty"), saved)).out).not.toContain("secrets that do not exist");
});

it("makes a home of a backup where there was none", async () => {
  const home = join(dir, "elsewhere");
  const { out } = await restore(home, await folderWith("saved", "old"));
  expect(await noteIn(home)).toBe("old");
  expect(out).not.toContain("had before");
});

it("touches nothing where a gateway holds the home, or the backup is none", async () => {
  const home = await folderWith("home", "new");
  const saved = await folderWith("saved", "old");
  const lock = acquireHomeLock(home);
  expect((await restore(home, saved)).code).toBe(75);
  lock.release();
  expect(await restore(home, join(dir, "nowhere"))).toMatchObject({
    code: 64,
    err: expect.stringContaining("is not a backup: it contains no signalbox.db"),
  });
  writeFileSync(join(saved, "signalbox.db"), "no database");
  expect((await restore(home, saved)).code).toBe(1);
  expect(await noteIn(home)).toBe("new");
});
