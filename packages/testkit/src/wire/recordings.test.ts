import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { getRecordingsFolder, readRecordings, readSpec } from "./recordings.ts";

afterEach(() => void vi.unstubAllEnvs());

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-recordings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("reads recordings and API documents from the folder that SIGNALBOX_RECORDINGS names", () => {
  const folder = createFolder();
  const stream = { ctype: "text/event-stream", res: "data: {}\n" };
  for (const [name, text] of [
    ["recordings/vercel-ai.jsonl", JSON.stringify(stream)],
    ["specs/openai.yaml", "openapi: 3.1.0"],
  ] as const) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, `${name}.gz`), gzipSync(text));
  }
  vi.stubEnv("SIGNALBOX_RECORDINGS", folder);
  expect(readRecordings("vercel-ai")).toEqual([{ ...stream, res: "data: {}\n\n" }]);
  expect(readRecordings("pydantic-ai")).toBeUndefined();
  expect(readSpec("openai.yaml")).toBe("openapi: 3.1.0");
});

it("reads nothing if SIGNALBOX_RECORDINGS is not set", () => {
  vi.stubEnv("SIGNALBOX_RECORDINGS", undefined);
  expect([getRecordingsFolder(), readRecordings("vercel-ai"), readSpec("openai.yaml")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

it("rejects a missing folder", () => {
  vi.stubEnv("SIGNALBOX_RECORDINGS", join(createFolder(), "missing"));
  expect(() => readSpec("openai.yaml")).toThrow(/^SIGNALBOX_RECORDINGS names a missing folder: /);
});
