import { phrasesIn } from "@signalbox/phrases";
import { detectEncoding } from "@signalbox/tools";
import { expect, it, vi } from "vitest";
import { silentLogger } from "../test/plain.ts";
import { createOutgoing, nameOf } from "./outgoing.ts";

it("names an attachment by one line without a path", () => {
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
  for (const [source, name] of Object.entries(cases)) expect(nameOf(source)).toBe(name);
  expect(nameOf(`${"a".repeat(300)}.pdf`)).toHaveLength(91);
});

it("gives all that one message has fetched one time together", async () => {
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
