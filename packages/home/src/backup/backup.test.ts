import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Blobs, createBlobs } from "@signalbox/attachments";
import { createOutboxRow } from "@signalbox/delivery";
import { openStore, type SqliteStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { backupInto } from "./backup.ts";
import type { BodiesWithParts } from "./blobs.ts";

let folder: string;
let mediaDir: string;
let blobs: Blobs;

beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-backup-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  folder = join(dir, "saved");
  mediaDir = join(dir, "media");
  mkdirSync(folder);
  blobs = createBlobs(mediaDir);
});

it("contains the tokens and no signed-in sessions or sign-in links", async () => {
  const { store } = await open();
  const token = { name: "alice", role: "member", hash: "h", createdAt: 1 } as const;
  await store.access.tokens.add(token);
  const signIns = ["sign-in-links", "oidc-links", "oidc-pending", "web-sessions"];
  for (const namespace of signIns) await store.kv.set(namespace, "hash", { tokenHash: "h" });
  await store.access.sessions.open({ id: "s", tokenHash: "h", createdAt: 1, usedAt: 1 });
  await backupInto(folder, { store, mediaDir });
  const copy = await openStore({ path: join(folder, "signalbox.db") });
  onTestFinished(() => copy.close());
  expect(await copy.access.sessions.find("s")).toBeUndefined();
  for (const namespace of signIns) expect(await copy.kv.list(namespace)).toEqual([]);
  expect(await copy.access.tokens.list()).toEqual([token]);
  expect(await store.access.sessions.find("s")).toBeDefined();
});

async function open() {
  const store = await openStore<BodiesWithParts>({ path: join(folder, "..", "signalbox.db") });
  onTestFinished(() => store.close());
  const lease = await store.leases.acquire("gateway", "test", 60_000);
  if (!lease) throw new Error("no lease");
  /** A reply with an attachment that waits to be sent. */
  const attach = async (text: string) => {
    const blob = await blobs.put(new TextEncoder().encode(text));
    const part = {
      type: "media",
      kind: "file",
      name: "a",
      mimeType: "text/plain",
      size: 1,
      ref: { blob },
    } as const;
    const place = { channel: "c", account: "a", address: text };
    const row = createOutboxRow(place, { parts: [part] }, { expiresAt: Date.now() + 60_000, claim: true });
    const [added] = await store.outbox.enqueue([row], { lease });
    if (!added) throw new Error("no row");
    return { blob, id: added.id };
  };
  /** The store, with something happening just before the copy of the database is made. */
  const meanwhile = (happens: () => Promise<void>): SqliteStore<BodiesWithParts> => ({
    ...store,
    admin: {
      ...store.admin,
      backup: async (path) => {
        await happens();
        return store.admin.backup(path);
      },
    },
  });
  return { store, lease, attach, meanwhile };
}

it("contains attachments of replies added during the backup, and none of sent replies", async () => {
  const { store, lease, attach, meanwhile } = await open();
  const first = await attach("sent meanwhile");
  const second = await attach("still waits");
  let third = "";
  const busy = meanwhile(async () => {
    await store.outbox.markSent(first.id, lease);
    await blobs.remove([first.blob], Date.now() + 1_000);
    third = (await attach("came meanwhile")).blob;
  });
  const report = await backupInto(folder, { store: busy, mediaDir });
  expect(report).toMatchObject({ media: { files: 2 }, missing: [] });
  expect(readdirSync(join(folder, "media")).toSorted()).toEqual([second.blob, third].toSorted());
});

it("contains attachments of replies that are sent right after the database was copied", async () => {
  const { store, lease, attach } = await open();
  const { blob, id } = await attach("sent right after");
  const busy: SqliteStore<BodiesWithParts> = {
    ...store,
    admin: {
      ...store.admin,
      backup: async (path) => {
        const made = await store.admin.backup(path);
        await store.outbox.markSent(id, lease);
        await blobs.remove([blob], Date.now() + 1_000);
        return made;
      },
    },
  };
  expect(await backupInto(folder, { store: busy, mediaDir })).toMatchObject({ missing: [] });
  expect(readdirSync(join(folder, "media"))).toEqual([blob]);
});

it("contains no leases", async () => {
  const { store } = await open();
  await backupInto(folder, { store, mediaDir });
  const copy = await openStore<BodiesWithParts>({ path: join(folder, "signalbox.db") });
  onTestFinished(() => copy.close());
  expect(await copy.leases.acquire("gateway", "another home", 1_000)).toMatchObject({ epoch: 3 });
});
