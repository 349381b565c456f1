import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUploads } from "@signalbox/attachments";
import type { MediaRef } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import type { Submission } from "@signalbox/server";
import { expect, it, onTestFinished } from "vitest";
import { type MessageFiles, repeatedFiles, storeEmbeddedFiles } from "./embedded-files.ts";

const LARGE = randomBytes(3_000_001);

async function desk(totalBytes?: number) {
  const dir = await mkdtemp(join(tmpdir(), "carried-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const limit = totalBytes === undefined ? {} : { totalBytes };
  return { dir, files: createUploads({ dir, maxBytes: 20_000_000, now: () => 1, ...limit }) };
}

function carrying(...urls: readonly string[]) {
  const attachments = urls.map((url) => ({ kind: "image" as const, url, name: "a.png" }));
  return { channel: "api", agent: "a", conversation: "c", id: "m1", text: "", attachments } as const;
}

function png(bytes: Buffer): string {
  return `data:image/png;base64,${bytes.toString("base64")}`;
}

/** A message with a picture in each of its earlier turns. */
function after(...images: readonly Buffer[]) {
  const turn = (picture: Buffer) => ({
    role: "user" as const,
    text: "look",
    images: [{ mimeType: "image/png", data: picture.toString("base64") }],
  });
  return { ...carrying(), history: [...images.map(turn), { role: "assistant" as const, text: "well" }] };
}

/** The message as the inbox has it. */
function taken(submission: Submission, files: MessageFiles) {
  const { media, history } = files;
  return plainMessage({ messageId: submission.id, text: submission.text, media, turn: { history } });
}

async function heldIn({ files }: Awaited<ReturnType<typeof desk>>, { ref }: MediaRef): Promise<Buffer> {
  const { owner, id } = ref as { owner: string; id: string };
  const file = await files.open(owner, id);
  return Buffer.from(await new Response(file?.body).arrayBuffer());
}

it("sets a large file of a message down, whole and once, until the message is answered", async () => {
  const open = await desk();
  const message = carrying(png(LARGE));
  const { forget, ...set } = await storeEmbeddedFiles(message, open.files);
  const { media } = set;
  const [file, ...others] = media;
  expect([file?.kind, file?.mimeType, file?.name, file?.size, others]).toEqual([
    "image",
    "image/png",
    "a.png",
    LARGE.length,
    [],
  ]);
  expect(JSON.stringify(file).length).toBeLessThan(300);
  expect(file && (await heldIn(open, file)).equals(LARGE)).toBe(true);
  expect(await repeatedFiles(message, taken(message, set))).toEqual(set);
  await forget();
  expect(await readdir(open.dir)).toEqual([]);
});

it("holds a file once that a message holds twice", async () => {
  const { files } = await desk();
  const { media } = await storeEmbeddedFiles(carrying(png(LARGE), png(LARGE)), files);
  expect(media[0]?.ref).toEqual({ owner: expect.stringContaining("m1"), id: expect.any(String) });
  expect(media[1]).toEqual(media[0]);
});

it("takes nothing of a message that comes twice at once where one of them is forgotten", async () => {
  const open = await desk();
  const message = carrying(png(LARGE));
  const [refused, taken] = await Promise.all([
    storeEmbeddedFiles(message, open.files),
    storeEmbeddedFiles(message, open.files),
  ]);
  await refused.forget();
  const [file] = taken.media;
  expect(file && (await heldIn(open, file)).equals(LARGE)).toBe(true);
});

it("tells files apart by what they hold, also under one id", async () => {
  const { files } = await desk();
  const other = Buffer.from(LARGE).fill(0, 1_000_000, 1_000_001);
  const { media } = await storeEmbeddedFiles(carrying(png(LARGE), png(other)), files);
  expect(new Set(media.map(({ ref }) => JSON.stringify(ref))).size).toBe(2);
});

it.each([
  ["small", png(randomBytes(1_000))],
  ["no plain base64", png(LARGE).replace(/.{4}$/, "====")],
  ["with line ends in it", png(LARGE).replace(/(.{76})/g, "$1\n")],
  ["of no picture's type", png(LARGE).replace("image/png", "text/plain")],
  ["elsewhere", "https://example.org/a.png"],
])("leaves what is %s where it is", async (_, url) => {
  const { files, dir } = await desk();
  const { media } = await storeEmbeddedFiles(carrying(url), files);
  expect(media.map(({ ref }) => ref)).toEqual([url]);
  expect(await readdir(dir)).toEqual([]);
});

it("leaves a file in its message where there is no room for it, also when the message comes again", async () => {
  const { files } = await desk(1_000_000);
  const message = carrying(png(LARGE));
  const { forget: _, ...set } = await storeEmbeddedFiles(message, files);
  expect(set.media.map(({ ref }) => ref)).toEqual([png(LARGE)]);
  expect(await repeatedFiles(message, taken(message, set))).toEqual(set);
});

it("leaves a file in its message where the disk does not take it", async () => {
  const { files } = await desk();
  const broken = { ...files, add: () => Promise.reject(new Error("no space left")), remove: async () => {} };
  const { media } = await storeEmbeddedFiles(carrying(png(LARGE)), broken);
  expect(media[0]?.ref).toBe(png(LARGE));
});

it("knows another file under the id of a message that was taken", async () => {
  const { files } = await desk();
  const message = carrying(png(LARGE));
  const set = await storeEmbeddedFiles(message, files);
  const other = png(Buffer.from(LARGE).fill(0, 0, 1));
  const { media } = await repeatedFiles(carrying(other), taken(message, set));
  expect(media).not.toEqual(set.media);
});

it("sets a large picture of an earlier turn down like the message's own, and leaves a small one", async () => {
  const open = await desk();
  const small = randomBytes(1_000);
  const message = after(LARGE, small);
  const { forget, ...set } = await storeEmbeddedFiles(message, open.files);
  const [first, second, third] = set.history;
  const [file] = first?.images ?? [];
  expect(file).toMatchObject({ kind: "image", mimeType: "image/png", size: LARGE.length });
  expect(file !== undefined && "ref" in file && (await heldIn(open, file)).equals(LARGE)).toBe(true);
  expect([first?.text, second, third]).toEqual(["look", ...message.history.slice(1)]);
  expect(await repeatedFiles(message, taken(message, set))).toEqual(set);
  const other = after(Buffer.from(LARGE).fill(0, 0, 1), small);
  expect((await repeatedFiles(other, taken(message, set))).history).not.toEqual(set.history);
  await forget();
  expect(await readdir(open.dir)).toEqual([]);
});

it("leaves no large file of a message in it, however many there are", async () => {
  const { files } = await desk();
  const urls = Array.from({ length: 25 }, () => png(randomBytes(60_000)));
  const { media } = await storeEmbeddedFiles(carrying(...urls), files);
  expect(media).toHaveLength(25);
  expect(JSON.stringify(media).length).toBeLessThan(10_000);
});
