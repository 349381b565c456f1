import type { MediaRef } from "@signalbox/channel";
import { expect, it } from "vitest";
import { createAttachmentCrashes } from "./crashes.ts";

const PICTURE: MediaRef = { kind: "image", mimeType: "image/png", ref: "p" };
const plain = { id: "plain", stored: { event: { media: [] } } };
const carrying = { id: "carrying", stored: { event: { media: [PICTURE] } } };

/** Processes over the same notes, one after the other. */
function processes() {
  const kept = new Map<string, unknown>();
  const notes = {
    get: async (namespace: string, key: string) => kept.get(`${namespace} ${key}`),
    set: async (namespace: string, key: string, value: number) => void kept.set(`${namespace} ${key}`, value),
    delete: async (namespace: string, key: string) => kept.delete(`${namespace} ${key}`),
  };
  return { kept, next: () => createAttachmentCrashes(notes, 2) };
}

it("gives up a message whose attachments ended one process after the other, and only that one", async () => {
  const { kept, next } = processes();
  const both = [plain, carrying];
  for (const most of [0, 1]) {
    const crashes = next();
    expect(await crashes.before(both)).toEqual({ most, spent: [] });
    await crashes.begin(both);
  }
  const last = next();
  expect(await last.before(both)).toEqual({ most: 2, spent: [carrying] });
  await last.end(both);
  expect(kept.size).toBe(0);
});

it("counts no process that ends as it was told to, and writes nothing for messages without attachments", async () => {
  const { kept, next } = processes();
  const first = next();
  await first.begin([plain]);
  expect(kept.size).toBe(0);
  await first.begin([carrying]);
  await first.rest();
  expect((await next().before([carrying])).most).toBe(0);
});
