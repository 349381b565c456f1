import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createMemory, type Memory, type MemoryOptions } from "../src/index.ts";

export const DAY_MS = 86_400_000;
/** Noon, so that no zone has another day. */
export const NOON = new Date("2026-03-02T12:00:00").getTime();

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "memory-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A memory that looks at its files for each search. */
export async function openMemory(options: MemoryOptions = {}): Promise<Memory> {
  const memory = await createMemory({ maxAgeMs: 0, ...options });
  onTestFinished(() => memory.close());
  return memory;
}

export async function textsOf(memory: Memory, query: string, options = {}): Promise<string[]> {
  return (await memory.search(query, options)).hits.map(({ text }) => text);
}
