import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import Sqlite from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { openStore, type Store } from "../src/index.ts";
import { answered, event, takeLease, temporaryFolder, testStore } from "./support.ts";

const worker = fileURLToPath(new URL("children/worker.ts", import.meta.url));

async function fill(store: Store, megabytes: number): Promise<void> {
  const filler = "x".repeat(100_000);
  for (let i = 0; i < megabytes * 10; i += 50)
    await Promise.all(Array.from({ length: 50 }, (_, k) => store.kv.set("filler", String(i + k), filler)));
}

/** Works on the database in a process of its own until the test ends; gives the texts it was told were accepted. */
async function writer(path: string): Promise<() => readonly string[]> {
  const child = spawn(process.execPath, [worker, path, "w"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const accepted = () =>
    said.split("\n").flatMap((line) => (line.startsWith("accepted ") ? [line.slice(9)] : []));
  while (accepted().length < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  return accepted;
}

test("a backup completes and is intact while another process writes continuously", async () => {
  const folder = temporaryFolder();
  const { store } = await testStore({ path: `${folder}/a.db` });
  await fill(store, 60);
  const accepted = await writer(`${folder}/a.db`);
  let before = accepted();
  let { bytes } = await store.admin.backup(`${folder}/copy.db`);
  // On a busy machine the other process may have written nothing meanwhile.
  while (accepted().length === before.length) {
    fs.rmSync(`${folder}/copy.db`);
    before = accepted();
    ({ bytes } = await store.admin.backup(`${folder}/copy.db`));
  }
  expect(fs.statSync(`${folder}/copy.db`)).toMatchObject({ size: bytes });
  expect(fs.statSync(`${folder}/copy.db`).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(folder).filter((name) => name.includes("part"))).toEqual([]);
  const copy = await openStore({ path: `${folder}/copy.db` });
  onTestFinished(() => copy.close());
  expect(await copy.admin.integrity()).toEqual({ ok: true, problems: [] });
  const kept = new Set((await copy.inbox.list({ limit: 1_000_000 })).map((row) => row.eventId));
  for (const text of before) expect(kept, text).toContain(`e-${text}`);
  expect(await copy.kv.list("filler")).toHaveLength(600);
});

test("a backup contains the database and never overwrites a file", async () => {
  const folder = temporaryFolder();
  const { store } = await testStore({ path: `${folder}/a.db` });
  await answered(store, await takeLease(store), "before");
  await store.admin.backup(`${folder}/copy.db`);
  await expect(store.admin.backup(`${folder}/copy.db`)).rejects.toMatchObject({ code: "invalid" });
  fs.symlinkSync(`${folder}/nowhere`, `${folder}/link.db`);
  await expect(store.admin.backup(`${folder}/link.db`)).rejects.toMatchObject({ code: "invalid" });
  await expect(store.admin.backup(`${folder}/none/copy.db`)).rejects.toMatchObject({ code: "ENOENT" });
  expect(fs.readdirSync(folder).sort()).toEqual(["a.db", "a.db-shm", "a.db-wal", "copy.db", "link.db"]);
  const copy = await openStore({ path: `${folder}/copy.db` });
  expect(await copy.inbox.accept(event("before"))).toMatchObject({ outcome: "duplicate", state: "replied" });
  await copy.close();
});

/** Of the pages of a file, in bytes. */
function pageSize(path: string): unknown {
  const raw = new Sqlite(path, { readonly: true });
  const size = raw.pragma("page_size", { simple: true });
  raw.close();
  return size;
}

test("a file keeps its page size, and its backup has the size of a new file", async () => {
  const folder = temporaryFolder();
  const first = await openStore({ path: `${folder}/a.db` });
  await answered(first, await takeLease(first), "before");
  await first.close();
  const size = pageSize(`${folder}/a.db`);
  const raw = new Sqlite(`${folder}/a.db`);
  for (const text of ["journal_mode = DELETE", "page_size = 4096"]) raw.pragma(text);
  raw.exec("VACUUM");
  raw.close();
  const { store } = await testStore({ path: `${folder}/a.db` });
  await answered(store, await takeLease(store), "behind");
  expect(pageSize(`${folder}/a.db`)).toBe(4096);
  await store.admin.backup(`${folder}/copy.db`);
  expect(size).toBeLessThan(4096);
  expect(pageSize(`${folder}/copy.db`)).toBe(size);
  const { store: copy } = await testStore({ path: `${folder}/copy.db` });
  expect(await copy.sessions.history("agent:coder:one")).toEqual(
    await store.sessions.history("agent:coder:one"),
  );
});

test("a database in memory can be backed up", async () => {
  const folder = temporaryFolder();
  const { store } = await testStore();
  await store.kv.set("n", "k", 1);
  await store.admin.backup(`${folder}/copy.db`);
  const copy = await openStore({ path: `${folder}/copy.db` });
  expect(await copy.kv.get("n", "k")).toBe(1);
  await copy.close();
});

test("a full disk leaves no part of a backup and does not affect the store", async ({ skip }) => {
  const disk = temporaryFolder();
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], { encoding: "utf8" });
  if (mounted.status !== 0) {
    const why = mounted.error?.message ?? mounted.stderr.trim();
    console.log(`no disk was filled: a small tmpfs cannot be mounted here (${why})`);
    return skip(why);
  }
  try {
    const { store } = await testStore({ path: `${temporaryFolder()}/a.db` });
    await fill(store, 10);
    await expect(store.admin.backup(`${disk}/copy.db`)).rejects.toMatchObject({ code: "disk_full" });
    expect(fs.readdirSync(disk)).toEqual([]);
    await store.kv.set("n", "k", 1);
    expect(await store.admin.integrity()).toEqual({ ok: true, problems: [] });
  } finally {
    spawnSync("umount", [disk]);
  }
});
