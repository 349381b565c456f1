import type { MediaRef } from "@signalbox/channel";
import { expect, it } from "vitest";
import { createAttachmentCrashes } from "./crashes.ts";

const PICTURE: MediaRef = { kind: "image", mimeType: "image/png", ref: "p" };
const plain = { id: "plain", stored: { event: { media: [] } } };
const carrying = { id: "carrying", stored: { event: { media: [PICTURE] } } };

/** Creates processes that share the same notes. */
function processes() {
  const kept = new Map<string, unknown>();
  const notes = {
    get: async (namespace: string, key: string) => kept.get(`${namespace} ${key}`),
    set: async (namespace: string, key: string, value: number) => void kept.set(`${namespace} ${key}`, value),
    delete: async (namespace: string, key: string) => kept.delete(`${namespace} ${key}`),
  };
  return { kept, next: () => createAttachmentCrashes(notes, 2) };
}

it("finds a message whose attachments crashed one process after the other, and only that one", async () => {
  const { kept, next } = processes();
  const both = [plain, carrying];
  for (let life = 0; life < 2; life++) {
    const crashes = next();
    expect(await crashes.findPoisoned(both)).toEqual([]);
    await crashes.begin(both);
  }
  const last = next();
  expect(await last.findPoisoned(both)).toEqual([carrying]);
  await last.end(both);
  expect(kept.size).toBe(0);
});

it("does not count a process that stops cleanly, and writes nothing for messages without attachments", async () => {
  const { kept, next } = processes();
  const first = next();
  await first.begin([plain]);
  expect(kept.size).toBe(0);
  for (let life = 0; life < 3; life++) {
    const crashes = next();
    await crashes.begin([carrying]);
    await crashes.stopCleanly();
  }
  expect(await next().findPoisoned([carrying])).toEqual([]);
});
