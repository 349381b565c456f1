import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { openWorkspace } from "@signalbox/tools";
import { supportedExtensions } from "file-type";
import { expect, it, onTestFinished } from "vitest";
import { createInboxFolder } from "./inbox-folder.ts";

const CONVERSATION = "00112233445566ff";

async function open() {
  const dir = mkdtempSync(join(tmpdir(), "inbox-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return { dir, folder: join(dir, "inbox", CONVERSATION), workspace: await openWorkspace({ dir }) };
}

const fail = (error: unknown) => {
  throw error;
};
const bytes = (text: string) => new TextEncoder().encode(text);

it("stores each content once, under a name made of its hash", async () => {
  const { folder, workspace } = await open();
  const inbox = createInboxFolder(workspace, fail, () => ({ files: 100, bytes: 1_000 }));
  const paths = [
    await inbox.store(CONVERSATION, bytes("one"), "txt"),
    await inbox.store(CONVERSATION, bytes("one"), "txt"),
  ];
  expect(paths).toEqual([
    `inbox/${CONVERSATION}/7692c3ad3540bb80.txt`,
    `inbox/${CONVERSATION}/7692c3ad3540bb80.txt`,
  ]);
  expect(readdirSync(folder)).toEqual(["7692c3ad3540bb80.txt"]);
});

it("removes the files that were stored longest ago, and no other files", async () => {
  const { dir, folder, workspace } = await open();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(dir, "target"), "x");
  const others = ["notes.md", "0123456789abcdef.txt.bak", "ABCDEF0123456789.txt"];
  for (const name of others) writeFileSync(join(folder, name), "x");
  symlinkSync(join(dir, "target"), join(folder, "0000000000000000.txt"));
  for (let age = 1; age <= 6; age += 1) {
    const name = join(folder, `${String(age).repeat(16)}.bin`);
    writeFileSync(name, "12345");
    utimesSync(name, 1_000_000 - age, 1_000_000 - age);
  }
  const path = await createInboxFolder(workspace, fail, () => ({ files: 4, bytes: 1_000 })).store(
    CONVERSATION,
    bytes("new"),
    "txt",
  );
  const left = readdirSync(folder).filter((name) => name.endsWith(".bin"));
  expect(left).toEqual(["1111111111111111.bin", "2222222222222222.bin", "3333333333333333.bin"]);
  await createInboxFolder(workspace, fail, () => ({ files: 100, bytes: 9 })).store(
    CONVERSATION,
    bytes("new"),
    "txt",
  );
  expect(readdirSync(folder).toSorted()).toEqual(
    [...others, "0000000000000000.txt", "1111111111111111.bin", basename(path)].toSorted(),
  );
  expect(readdirSync(dir)).toContain("target");
});

it("removes files that are too old", async () => {
  const { folder, workspace } = await open();
  mkdirSync(folder, { recursive: true });
  const old = join(folder, `${"1".repeat(16)}.bin`);
  const young = join(folder, `${"2".repeat(16)}.bin`);
  for (const name of [old, young]) writeFileSync(name, "x");
  const now = Date.now() / 1_000;
  utimesSync(old, now - 7_200, now - 7_200);
  utimesSync(young, now - 600, now - 600);
  const limits = { files: 100, bytes: 1_000, ms: 3_600_000 };
  const path = await createInboxFolder(workspace, fail, () => limits).store(
    CONVERSATION,
    bytes("new"),
    "txt",
  );
  expect(readdirSync(folder).toSorted()).toEqual([`${"2".repeat(16)}.bin`, basename(path)].toSorted());
});

it("removes files with any extension that it stores", async () => {
  const { folder, workspace } = await open();
  const inbox = createInboxFolder(workspace, fail, () => ({ files: 0, bytes: 0 }));
  for (const extension of supportedExtensions) await inbox.store(CONVERSATION, bytes(extension), extension);
  await inbox.clear();
  expect(existsSync(folder)).toBe(false);
});

it("removes old files even if no new ones arrive", async () => {
  const { folder, workspace } = await open();
  const inbox = createInboxFolder(workspace, fail, () => ({ files: 100, bytes: 1_000, ms: 3_600_000 }));
  await inbox.clear();
  mkdirSync(folder, { recursive: true });
  const old = join(folder, `${"1".repeat(16)}.bin`);
  writeFileSync(old, "x");
  utimesSync(old, 1_000_000, 1_000_000);
  await inbox.clear();
  expect(existsSync(folder)).toBe(false);
});

it("computes the age of files by the given clock", async () => {
  const { folder, workspace } = await open();
  const hour = 3_600_000;
  let at = Date.now();
  const limits = () => ({ files: 100, bytes: 1_000, ms: hour });
  const inbox = createInboxFolder(workspace, fail, limits, () => at);
  await inbox.store(CONVERSATION, bytes("new"), "txt");
  await inbox.clear();
  expect(existsSync(folder)).toBe(true);
  at += 2 * hour;
  await inbox.clear();
  expect(existsSync(folder)).toBe(false);
});

it("removes the other files if one cannot be inspected or removed", async () => {
  const { folder, workspace } = await open();
  mkdirSync(folder, { recursive: true });
  for (let age = 1; age <= 6; age += 1) {
    const name = join(folder, `${String(age).repeat(16)}.bin`);
    writeFileSync(name, "x");
    utimesSync(name, 1_000_000 - age, 1_000_000 - age);
  }
  const uncleared: unknown[] = [];
  const denied = new Error("permission denied");
  const inbox = createInboxFolder(
    {
      ...workspace,
      openFile: (path) => (path.includes("/1") ? Promise.reject(denied) : workspace.openFile(path)),
      async removeFile(path) {
        if (path.includes("/2")) throw denied;
        if (path.includes("/3")) await workspace.removeFile(path);
        await workspace.removeFile(path);
      },
    },
    (error) => uncleared.push(error),
    () => ({ files: 0, bytes: 0 }),
  );
  await inbox.clear();
  expect(readdirSync(folder)).toEqual(["1111111111111111.bin", "2222222222222222.bin"]);
  expect(uncleared).toEqual([denied]);
});

it("stores a file even if older ones cannot be removed", async () => {
  const { dir, workspace } = await open();
  const uncleared: unknown[] = [];
  const removeFile = () => Promise.reject(new Error("read-only"));
  const inbox = createInboxFolder(
    { ...workspace, removeFile },
    (error) => uncleared.push(error),
    () => ({
      files: 0,
      bytes: 0,
    }),
  );
  for (let index = 0; index < 25; index += 1) {
    const path = await inbox.store(CONVERSATION, bytes(`file ${index}`), "txt");
    expect(readFileSync(join(dir, path), "utf8")).toBe(`file ${index}`);
  }
  expect(uncleared).toEqual([new Error("read-only"), new Error("read-only")]);
});
