import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createWorkspaceMarkers, MARKER_FILE } from "./workspace-markers.ts";

async function openMarkers() {
  const store = await openStore({ path: ":memory:" });
  const dir = mkdtempSync(join(tmpdir(), "signalbox-markers-"));
  onTestFinished(async () => {
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const folder = (name: string) => {
    mkdirSync(join(dir, name), { recursive: true });
    return { shardId: "coder", workspaceDir: join(dir, name) };
  };
  return { markers: createWorkspaceMarkers(store.kv), folder, dir };
}

const markerOf = ({ workspaceDir }: { readonly workspaceDir: string }) =>
  readFileSync(join(workspaceDir, MARKER_FILE), "utf8").trim();

it("accepts any folder at first, and then only the one that was marked", async () => {
  const { markers, folder } = await openMarkers();
  const [first, empty] = [folder("first"), folder("empty")];
  expect(await markers.findProblem(first)).toBeUndefined();
  await markers.mark(first);
  expect(await markers.findProblem(first)).toBeUndefined();
  const problem = await markers.findProblem(empty);
  expect(problem).toContain("is not the workspace that the agent coder used before");
  expect(problem).toContain("the file .signalbox-workspace in it is missing. Mount the volume");
  writeFileSync(join(empty.workspaceDir, MARKER_FILE), "another");
  expect(await markers.findProblem(empty)).toContain("in it has another id");
  // The remedy that the sentence names.
  writeFileSync(join(empty.workspaceDir, MARKER_FILE), `${markerOf(first)}\n`);
  expect(await markers.findProblem(empty)).toBeUndefined();
});

it("restores a marker with the same id, and keeps the id of a folder from another database", async () => {
  const { markers, folder } = await openMarkers();
  const first = folder("first");
  await markers.mark(first);
  const id = markerOf(first);
  rmSync(join(first.workspaceDir, MARKER_FILE));
  await markers.mark(first);
  expect(markerOf(first)).toBe(id);
  const other = await openMarkers();
  await other.markers.mark(first);
  expect(markerOf(first)).toBe(id);
  expect(await other.markers.findProblem(first)).toBeUndefined();
});

it("writes through no link that an agent created in place of the marker", async () => {
  const { markers, folder, dir } = await openMarkers();
  const first = folder("first");
  const victim = join(dir, "victim");
  writeFileSync(victim, "untouched");
  symlinkSync(victim, join(first.workspaceDir, MARKER_FILE));
  await expect(markers.mark(first)).rejects.toThrow("ELOOP");
  expect(readFileSync(victim, "utf8")).toBe("untouched");
});
