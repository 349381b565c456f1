import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createAgentWorkspaces } from "../workspace/agent-workspaces.ts";
import { openFileLabels } from "./file-labels.ts";
import { createMemoryLabelStore, type FileLabel } from "./label.ts";
import { createTrust, type TrustResult } from "./trust.ts";

async function openFolder() {
  const workspaceDir = mkdtempSync(join(tmpdir(), "signalbox-trust-"));
  onTestFinished(() => rmSync(workspaceDir, { recursive: true, force: true }));
  const labels = await openFileLabels(createMemoryLabelStore());
  const trust = createTrust(labels, createAgentWorkspaces({ labels }));
  return {
    labels,
    write: (path: string, content: string | Buffer) => writeFileSync(join(workspaceDir, path), content),
    mkdir: (path: string) => mkdirSync(join(workspaceDir, path), { recursive: true }),
    link: (target: string, path: string) => symlinkSync(target, join(workspaceDir, path)),
    label: (path: string, kind: FileLabel["kind"] = "entry") =>
      labels.add([{ path: join(workspaceDir, path), kind, source: "person", by: "plain:mo" }]),
    isLabelled: (path: string) => labels.get(join(workspaceDir, path)) !== undefined,
    trust: (path: string, digest?: string) => trust({ workspaceDir }, { path, digest }),
  };
}

function reviewOf(result: TrustResult) {
  if (result.ok || result.review === undefined) throw new Error("there is no review");
  return result.review;
}

test("shows a file before it is trusted, and trusts exactly what was shown", async () => {
  const { write, label, isLabelled, trust } = await openFolder();
  write("plan.txt", "harmless\n");
  await label("plan.txt");
  const { content, digest } = reviewOf(await trust("plan.txt"));
  expect(content).toBe("harmless\n");
  write("plan.txt", "obey me\n");
  const changed = await trust("plan.txt", digest);
  expect(changed).toMatchObject({ ok: false, message: expect.stringContaining("not the same") });
  expect(isLabelled("plan.txt")).toBe(true);
  expect(await trust("plan.txt", reviewOf(changed).digest)).toEqual({ ok: true, path: "plan.txt" });
  expect(isLabelled("plan.txt")).toBe(false);
});

test("shows a binary or long file by its size and hash", async () => {
  const { write, label, trust } = await openFolder();
  write("photo.png", Buffer.from([0x89, 0x50, 0, 1]));
  write("long.txt", "x".repeat(300_000));
  await label("photo.png");
  await label("long.txt");
  expect(reviewOf(await trust("photo.png")).content).toMatch(/^photo\.png: 4 bytes, SHA-256 [0-9a-f]{64}$/);
  expect(reviewOf(await trust("long.txt")).content).toMatch(/^long\.txt: 300000 bytes, SHA-256 /);
});

test("lists every file of a folder that others wrote, and notices any change in it", async () => {
  const { write, mkdir, link, label, isLabelled, trust } = await openFolder();
  mkdir("theirs/inner");
  write("theirs/a.txt", "a");
  write("theirs/inner/b.txt", "b");
  link("/etc/passwd", "theirs/link");
  await label("theirs", "tree");
  const { content, digest } = reviewOf(await trust("theirs"));
  expect(content.split("\n").map((line) => line.replace(/: .*/, ""))).toEqual([
    "theirs/",
    "theirs/a.txt",
    "theirs/inner/",
    "theirs/inner/b.txt",
    "theirs/link",
  ]);
  write("theirs/inner/c.txt", "c");
  expect((await trust("theirs", digest)).ok).toBe(false);
  const again = reviewOf(await trust("theirs"));
  write("theirs/inner/c.txt", "d");
  expect((await trust("theirs", again.digest)).ok).toBe(false);
  expect((await trust("theirs", reviewOf(await trust("theirs")).digest)).ok).toBe(true);
  expect(isLabelled("theirs/inner/c.txt")).toBe(false);
});

test("lists only what others wrote in a folder of the owner", async () => {
  const { write, mkdir, label, isLabelled, trust } = await openFolder();
  mkdir("notes/theirs");
  for (const path of ["notes/own.txt", "notes/b.txt", "notes/theirs/a.txt"]) write(path, path);
  await label("notes/b.txt");
  await label("notes/theirs");
  await label("notes/theirs/a.txt");
  await label("notes/removed.txt");
  const { content, digest } = reviewOf(await trust("notes"));
  expect(content.split("\n").map((line) => line.replace(/: .*/, ""))).toEqual([
    "notes/b.txt",
    "notes/theirs/",
    "notes/theirs/a.txt",
  ]);
  expect((await trust("notes", digest)).ok).toBe(true);
  for (const path of ["notes/b.txt", "notes/theirs", "notes/theirs/a.txt", "notes/removed.txt"])
    expect(isLabelled(path)).toBe(false);
});

test("refuses a folder with more files than an owner can review", async () => {
  const { write, mkdir, label, trust } = await openFolder();
  mkdir("many");
  for (let at = 0; at < 2_001; at++) write(`many/${at}`, "");
  await label("many", "tree");
  expect(await trust("many")).toEqual({
    ok: false,
    message: "There is too much in many to review. Trust parts of it.",
  });
});
