import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemory } from "../dist/index.js";
import { chineseQuestions, manyTexts } from "./questions.ts";
import { fts5, type Rival } from "./rivals.ts";

const SEARCHES = 500;
const BATCH = 5_000;

/** Many short texts in one memory on the disk: how fast they are indexed, found, and what they take. */
export async function measureScale(count: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "memory-bench-"));
  const texts = manyTexts(count);
  const memory = await createMemory({ folder });
  await memory.refresh();
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  try {
    const characters = texts.reduce((sum, text) => sum + text.length, 0) / count;
    console.log(`\n${count} chunks of ${characters.toFixed(0)} characters`);
    const seconds = await timed(async () => {
      for (let at = 0; at < count; at += BATCH) {
        await memory.add(
          texts.slice(at, at + BATCH).map((text, place) => ({ text, id: String(at + place) })),
        );
      }
    });
    report("memory", count / seconds, await searchTimes((question) => memory.search(question)));
    console.log("  to keep to: 5,000 indexed a second, 20 ms and 60 ms a search, 150 MB more memory");
    globalThis.gc?.();
    console.log(`  memory: ${((process.memoryUsage.rss() - before) / 1e6).toFixed(0)} MB more`);
    console.log(`  index: ${(statSync(join(folder, ".index.db")).size / 1e6).toFixed(0)} MB on the disk`);
  } finally {
    await memory.close();
    rmSync(folder, { recursive: true, force: true });
  }
  await measureFloor(fts5("FTS5 trigram", "trigram"), texts);
}

/** What SQLite alone takes on this machine at this moment, in memory, for results that are nearest to ours. */
async function measureFloor(rival: Rival, texts: readonly string[]): Promise<void> {
  let opened: Awaited<ReturnType<Rival["open"]>> | undefined;
  const seconds = await timed(async () => {
    opened = await rival.open(texts.map((text) => ({ text })));
  });
  if (opened === undefined) return;
  const { search, close } = opened;
  report(`floor, ${rival.name}`, texts.length / seconds, await searchTimes(search));
  await close();
}

/** Milliseconds, the shortest first. */
async function searchTimes(search: (question: string) => Promise<unknown>): Promise<number[]> {
  const questions = chineseQuestions().questions.map(({ text }) => text);
  const times: number[] = [];
  for (let at = 0; at < SEARCHES; at++) {
    const question = questions[(at * 37) % questions.length] ?? "";
    times.push(1_000 * (await timed(() => search(question))));
  }
  return times.sort((a, b) => a - b);
}

function report(name: string, indexedPerSecond: number, times: readonly number[]): void {
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
  console.log(
    `  ${name}: ${indexedPerSecond.toFixed(0)} indexed a second; search ${at(0.5)} ms at the median, ` +
      `${at(0.99)} ms at the 99th percentile`,
  );
}

/** Seconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}
