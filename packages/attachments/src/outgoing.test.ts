import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { phrasesIn } from "@signalbox/phrases";
import { detectEncoding } from "@signalbox/tools";
import { expect, it, onTestFinished, vi } from "vitest";
import { silentLogger } from "../test/plain.ts";
import { createBlobs } from "./blobs.ts";
import { createOutgoing, getDisplayName } from "./outgoing.ts";

it("returns the name of an attachment without its path", () => {
  const cases = {
    "out/报告 1.pdf": "报告 1.pdf",
    "C:\\temp\\a.txt": "a.txt",
    "https://example.com/a/b.png?token=1#x": "b.png",
    "https://example.com": "file",
    "https://example.com/%E6%8A%A5%E5%91%8A%201.pdf": "报告 1.pdf",
    "https://example.com/报告.pdf": "报告.pdf",
    "https://example.com/..%2F..%2Fetc%2Fpasswd": "passwd",
    "https://example.com/100%.pdf": "100%.pdf",
    "a\u202Egpj.exe": "agpj.exe",
    "a\nb": "ab",
    "..": "file",
    "": "file",
  };
  for (const [source, name] of Object.entries(cases)) expect(getDisplayName(source)).toBe(name);
  expect(getDisplayName(`${"a".repeat(300)}.pdf`)).toHaveLength(91);
});

it("applies one time limit to all attachments of a message", async () => {
  const unused = () => Promise.reject(new Error("not needed here"));
  const asked: string[] = [];
  const media = createOutgoing({
    blobs: { put: unused, open: unused, copy: unused, olderThan: unused, remove: unused },
    folder: unused,
    inspector: { detectEncoding },
    fetch: (url, { signal }) => {
      asked.push(url);
      return new Promise((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
    logger: silentLogger,
  });
  const sources = ["https://a.example/1", "https://a.example/2", "https://a.example/3"];
  const never = new AbortController().signal;
  vi.useFakeTimers();
  try {
    const ready = media.prepare({
      wanted: { sources, voice: false },
      agentId: "coder",
      capabilities: { sendMedia: { file: { maxBytes: 1_000_000 } } },
      mayAttach: async () => ({ ok: true }),
      isVisible: () => true,
      phrases: phrasesIn("en"),
      signal: never,
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await ready).toEqual({ parts: [], lines: sources });
    expect(asked).toEqual(sources);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it("throws a retryable error if an attachment cannot be opened, and a final one if it is gone", async () => {
  const dir = mkdtempSync(join(tmpdir(), "blobs-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const noFolder = join(dir, "file");
  writeFileSync(noFolder, "");
  const unused = () => Promise.reject(new Error("not needed here"));
  const opened = (folder: string) =>
    createOutgoing({
      blobs: createBlobs(folder),
      folder: unused,
      fetch: unused,
      inspector: { detectEncoding },
      logger: silentLogger,
    }).open({
      type: "media",
      kind: "file",
      name: "a.txt",
      mimeType: "text/plain",
      size: 1,
      ref: { blob: "0".repeat(64) },
    });
  await expect(opened(noFolder)).rejects.toMatchObject({ code: "transient" });
  await expect(opened(join(dir, "blobs"))).rejects.toMatchObject({ code: "not_found" });
});
