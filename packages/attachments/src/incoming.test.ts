import { setImmediate } from "node:timers/promises";
import type { MediaRef } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { detectEncoding, extractDocumentText, isDocumentType } from "@signalbox/tools";
import { expect, it } from "vitest";
import { plainCapabilities, silentLogger } from "../test/plain.ts";
import { createIncoming, type IncomingOptions } from "./incoming.ts";
import type { MessageWithFiles } from "./received-file.ts";

function open(account: IncomingOptions["account"], more: Partial<IncomingOptions> = {}) {
  return createIncoming({
    account,
    folder: () => Promise.reject(new Error("there is none")),
    inspector: { detectEncoding },
    limits: () => ({ files: 10, bytes: 1_000_000 }),
    logger: silentLogger,
    ...more,
  });
}

function message(id: string, media: readonly MediaRef[]): MessageWithFiles {
  return { id, agentId: "coder", event: plainMessage({ messageId: id, text: "", media }) };
}

it("notes that an attachment could not be fetched if its account is not running", async () => {
  const withFile = message("m1", [{ kind: "file", mimeType: "text/plain", ref: "x", name: "a.txt" }]);
  expect((await open(() => undefined).show([withFile], []))[0]?.files).toEqual([
    { type: "text/plain", name: "a.txt", note: "could not be fetched" },
  ]);
});

/** An account whose attachments are streamed in chunks; each chunk but the first few waits for `go`. */
function streaming(bytes: Uint8Array, options: { size?: number; early: number; go: Promise<void> }) {
  let pulled = 0;
  const chunk = 50_000;
  const account: IncomingOptions["account"] = () => ({
    definition: {
      capabilities: {
        ...plainCapabilities,
        media: { kinds: ["file"], maxBytes: 25_000_000, maxPerMessage: 100 },
      },
    },
    running: {
      fetchMedia: async () => {
        let at = 0;
        const body = new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              if (at >= options.early) await options.go;
              const part = bytes.subarray(at, at + chunk);
              at += part.byteLength;
              pulled += part.byteLength;
              if (part.byteLength > 0) controller.enqueue(part);
              else controller.close();
            },
          },
          { highWaterMark: 0 },
        );
        const { size } = options;
        return { body, mimeType: "text/plain", ...(size === undefined ? {} : { size }) };
      },
    },
  });
  return { account, pulled: () => pulled };
}

it.each([
  { width: 8_000, height: 100, note: "shown to you as image" },
  { width: 8_001, height: 100, note: "too large to be shown" },
  { width: 7_500, height: 7_500, note: "too large to be shown" },
  { width: 60_000, height: 0, note: "not shown, because its size is unknown" },
])("notes that an image of $width × $height pixels is $note", async ({ width, height, note }) => {
  const png = Buffer.from("89504e470d0a1a0a0000000d4948445200000000000000000806000000", "hex");
  png.writeUInt32BE(width, 16);
  png.writeUInt32BE(height, 20);
  const { account } = streaming(png, { early: png.byteLength, go: Promise.resolve() });
  const sent = message("m1", [{ kind: "image", mimeType: "image/png", ref: "x" }]);
  const media = open(account);
  await media.take(sent);
  const [shown] = await media.show([sent], ["text", "image"]);
  expect(shown?.files).toMatchObject([{ type: "image/png", note }]);
  expect(shown?.blocks).toHaveLength(note.startsWith("shown") ? 1 : 0);
});

const files = (count: number): MediaRef[] =>
  Array.from({ length: count }, (_, index) => ({ kind: "file", mimeType: "text/plain", ref: `${index}` }));

it.each([undefined, 500_000, 1, 9_000_000])(
  "fetches no more at a time than there is memory for, where files are said to have %s bytes",
  async (size) => {
    const bytes = Buffer.alloc(500_000, "word ");
    const go = Promise.withResolvers<void>();
    const source = streaming(bytes, {
      early: 450_000,
      go: go.promise,
      ...(size === undefined ? {} : { size }),
    });
    const media = open(source.account, { memoryBytes: 2_000_000 });
    const taking = ["m1", "m2", "m3", "m4"].map((id) => media.take(message(id, files(20))));
    for (let before = -1; before !== source.pulled(); ) {
      before = source.pulled();
      for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    }
    expect(source.pulled()).toBeGreaterThan(0);
    // Besides: the first file's own, and the chunk at which each of the others waits.
    expect(source.pulled()).toBeLessThanOrEqual(2_000_000 + 500_000 + 16 * 50_000);
    go.resolve();
    for (const found of await Promise.all(taking)) {
      expect(found).toHaveLength(20);
      for (const file of found) {
        expect(file).toMatchObject({ mimeType: "text/plain" });
        expect(file.note).toBeUndefined();
        expect(file.bytes?.equals(bytes)).toBe(true);
        if (size === bytes.byteLength) expect(file.bytes?.buffer.byteLength).toBe(size);
      }
    }
  },
);

it("finishes even if no file fits into the budget", async () => {
  const bytes = Buffer.alloc(200_000, "word ");
  const { account } = streaming(bytes, { early: 0, go: Promise.resolve() });
  const media = open(account, { memoryBytes: 1 });
  const taken = await Promise.all(["m1", "m2"].map((id) => media.take(message(id, files(3)))));
  expect(taken.flat().map((file) => file.bytes?.byteLength)).toEqual(Array(6).fill(200_000));
});

it("caches only what models are shown, and rejects larger files that are not stored", async () => {
  const pdf = Buffer.alloc(9_000_000, " ");
  pdf.write("%PDF-1.7\n");
  const go = Promise.resolve();
  const found = await open(streaming(pdf, { early: 0, go }).account).take(message("m1", files(8)));
  expect(found.map(({ mimeType }) => mimeType)).toEqual(Array(8).fill("application/pdf"));
  expect(found.filter((file) => file.bytes !== undefined)).toHaveLength(6);
  const long = streaming(Buffer.alloc(10_000_001), { early: 0, go });
  const [file] = await open(long.account).take(message("m2", files(1)));
  expect(file?.note).toBe("not fetched, because it is larger than 10000000 bytes");
});

const PAGE = Buffer.from(`<!doctype html><html><body><p>${"A long page. ".repeat(5_000)}</p></body></html>`);

/** Shows one HTML page, or several, to a model. */
async function showPages(count: number, inspector: Partial<IncomingOptions["inspector"]> = {}) {
  const { account } = streaming(PAGE, { early: PAGE.byteLength, go: Promise.resolve() });
  const media = open(account, {
    inspector: {
      detectEncoding,
      isDocument: isDocumentType,
      readDocument: (bytes, type) => extractDocumentText(bytes, type, { maxChars: 30_000 }),
      ...inspector,
    },
  });
  const pages = Array.from(
    { length: count },
    (_, n): MediaRef => ({
      kind: "file",
      mimeType: "text/html",
      ref: `${n}`,
      name: `${n}.html`,
    }),
  );
  const [shown] = await media.show([message("m1", pages)], ["text"]);
  return shown;
}

it("gives the model the text of a document within the limits of a request, as untrusted content", async () => {
  const shown = await showPages(5);
  expect(shown?.untrusted).toBe(true);
  expect(shown?.files[0]).toMatchObject({ note: "its text, without layout and pictures", cut: true });
  expect(shown?.files[0]?.text).toMatch(/^A long page\./);
  expect(shown?.files.map(({ text }) => text?.length)).toEqual([
    20_000,
    20_000,
    10_000,
    undefined,
    undefined,
  ]);
});

it("shows a document whose text cannot be read as the text file that it is, or only by its name", async () => {
  const shown = await showPages(1, { readDocument: () => Promise.reject(new Error("damaged")) });
  expect(shown?.files[0]?.text).toContain("<!doctype html>");
});
