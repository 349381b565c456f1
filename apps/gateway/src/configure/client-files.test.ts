import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ObjectStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { openClientFiles } from "./client-files.ts";

const ID = "an-id-of-16-chars";
const bytes = (text: string) => new TextEncoder().encode(text);

/** An object store in memory, which can fail. */
function createObjects() {
  const stored = new Map<string, Uint8Array>();
  const state = { isDown: false };
  const store: ObjectStore = {
    async put(key, content) {
      if (state.isDown) throw new Error("503 SlowDown");
      stored.set(key, content);
    },
    async open(key) {
      const content = stored.get(key);
      return content && new Blob([content.slice()]).stream();
    },
    list: async (prefix) =>
      [...stored]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { byteLength: size }]) => ({ key, size, changedAt: Date.now() })),
    async remove(keys) {
      for (const key of keys) stored.delete(key);
    },
  };
  return Object.assign(state, { store, keys: () => [...stored.keys()] });
}

function openFiles() {
  const mediaDir = mkdtempSync(join(tmpdir(), "signalbox-client-files-"));
  onTestFinished(() => rmSync(mediaDir, { recursive: true, force: true }));
  const warnings: string[] = [];
  const logger = { warn: (_fields: object, message: string) => void warnings.push(message) };
  return { files: openClientFiles({ mediaDir }, { logger, now: Date.now }), warnings };
}

it("stores new files in the shared storage, and still reads those in the home", async () => {
  const { files } = openFiles();
  const objects = createObjects();
  const { uploads } = files;
  const read = async (id: string) => {
    const upload = await uploads.open("anna", id);
    return upload && new Response(upload.body).text();
  };
  await uploads.add({ owner: "anna", id: ID, at: 0, bytes: bytes("in the home") });
  files.share(objects.store);
  await uploads.add({ owner: "anna", id: `${ID}-2`, at: 0, bytes: bytes("shared") });
  expect([await read(ID), await read(`${ID}-2`), await read(`${ID}-3`)]).toEqual([
    "in the home",
    "shared",
    undefined,
  ]);
  expect(objects.keys()).toHaveLength(1);
  await uploads.remove("anna");
  expect([await read(ID), await read(`${ID}-2`)]).toEqual([undefined, undefined]);
});

it("reports a shared storage that cannot be written once, until it can be again", async () => {
  const { files, warnings } = openFiles();
  const objects = createObjects();
  files.share(objects.store);
  const add = (owner: string) => files.carried.add({ owner, id: ID, at: 0, bytes: bytes("x") });
  objects.isDown = true;
  for (const owner of ["a", "b"]) await expect(add(owner)).rejects.toThrow("SlowDown");
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain("because the shared storage cannot be written");
  objects.isDown = false;
  expect((await add("c")).kind).toBe("added");
});
