// What one message costs in the store, beside a floor measured in the same run: the same four commits, each a bare
// insert with better-sqlite3 and `synchronous=FULL`. Usage: node bench/index.ts [messages]
import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { openStore, type Store } from "../src/index.ts";
import { type Flow, flow, seedOf } from "./flow.ts";
import { type Figures, measure, quantile } from "./measure.ts";

const messages = Number(process.argv[2] ?? 4000);
const folder = fs.mkdtempSync(join(os.tmpdir(), "signalbox-bench-"));
let files = 0;
function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function line(name: string, figures: Figures, count: number, latencies: readonly number[]): void {
  const per = (value: number | undefined, digits: number) =>
    value === undefined ? "?" : (value / count).toFixed(digits);
  console.log(
    [
      name.padEnd(34),
      `${(count / figures.seconds).toFixed(0).padStart(6)}/s`,
      `p50 ${quantile(latencies, 0.5).toFixed(2).padStart(6)} ms`,
      `p99 ${quantile(latencies, 0.99).toFixed(2).padStart(6)} ms`,
      `cpu ${per(figures.cpuMs, 3)} ms`,
      `${per(figures.kilobytes, 1).padStart(5)} KB`,
      `(disk ${per(figures.diskKilobytes, 1)})`,
      `${per(figures.writeCalls, 1).padStart(5)} writes`,
      `hold p99 ${figures.holdMs.p99.toFixed(1)} max ${figures.holdMs.max.toFixed(1)} ms`,
    ].join("  "),
  );
}

async function floor(count: number): Promise<number> {
  const raw = new Sqlite(newFile());
  raw.pragma("journal_mode = WAL");
  raw.pragma("synchronous = FULL");
  raw.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)");
  const insert = raw.prepare("INSERT INTO t (body) VALUES (?)");
  const body = "x".repeat(900);
  const latencies: number[] = [];
  const figures = await measure(async () => {
    for (let i = 0; i < count; i += 1) {
      const start = performance.now();
      for (let commit = 0; commit < 4; commit += 1) insert.run(body);
      latencies.push(performance.now() - start);
      if (i % 50 === 0) await new Promise(setImmediate);
    }
  });
  line("floor: 4 bare inserts, each synced", figures, count, latencies);
  raw.close();
  return quantile(latencies, 0.5);
}

async function opened(work: (store: Store, way: Flow) => Promise<void>): Promise<void> {
  const store = await openStore({ path: newFile() });
  const lease = await store.leases.acquire("gateway", "bench", 3_600_000);
  if (lease === undefined) throw new Error("no lease");
  await work(store, flow(store, lease));
  await store.close();
}

/** Each session sends its next message when the one before is done. */
async function closedLoop(name: string, sessions: number, count: number, spread = sessions): Promise<number> {
  let median = 0;
  await opened(async (_, { message, settled }) => {
    for (let i = 0; i < 50; i += 1) await message(i % spread);
    const latencies: number[] = [];
    let sent = 0;
    const figures = await measure(async () => {
      const worker = async (first: number) => {
        for (let turn = 0; sent < count; turn += 1) {
          sent += 1;
          const start = performance.now();
          await message((first + turn * sessions) % spread);
          latencies.push(performance.now() - start);
        }
      };
      await Promise.all(Array.from({ length: sessions }, (_value, first) => worker(first)));
      await settled();
    });
    line(name, figures, count, latencies);
    median = quantile(latencies, 0.5);
  });
  return median;
}

/** Messages come at a steady rate, whatever becomes of those before; each session has one at a time. */
async function paced(name: string, sessions: number, perSecond: number, count: number): Promise<void> {
  await opened(async (_, { message, settled }) => {
    const tails = Array.from({ length: sessions }, () => Promise.resolve());
    const latencies: number[] = [];
    const figures = await measure(async () => {
      const begin = performance.now();
      for (let i = 0; i < count; i += 1) {
        const due = begin + (i * 1000) / perSecond;
        while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1));
        const session = i % sessions;
        const start = performance.now();
        tails[session] = (tails[session] ?? Promise.resolve())
          .then(() => message(session))
          .then(() => void latencies.push(performance.now() - start));
      }
      await Promise.all(tails);
      await settled();
    });
    line(name, figures, count, latencies);
  });
}

async function history(): Promise<void> {
  await opened(async (store) => {
    const lease = await store.leases.acquire("gateway", "bench", 3_600_000);
    if (lease === undefined) throw new Error("no lease");
    for (const length of [10, 1000]) {
      const seed = { ...seedOf(length), key: `history-${length}` };
      await store.sessions.ensure(seed);
      const one = { role: "user", content: "y".repeat(700) };
      for (let i = 0; i < length; i += 10) {
        await store.sessions.append(
          seed.key,
          Array.from({ length: 10 }, () => one),
          lease,
        );
      }
      const times: number[] = [];
      for (let i = 0; i < 50; i += 1) {
        const start = performance.now();
        await store.sessions.history(seed.key);
        times.push(performance.now() - start);
      }
      console.log(`history of ${length} messages: p50 ${quantile(times, 0.5).toFixed(2)} ms`);
    }
  });
}

const base = await floor(Math.min(messages, 1000));
const single = await closedLoop("1 session, one after the other", 1, Math.min(messages, 1000));
console.log(`  ${(single / base).toFixed(2)} times the floor, with the event loop free during every sync`);
await paced("32 sessions, 50 messages a second", 32, 50, Math.min(messages, 200));
await paced("32 sessions, 400 messages a second", 32, 400, messages);
await closedLoop("32 sessions, as fast as it goes", 32, messages);
await closedLoop("32 of 10,000 sessions at a time", 32, messages, 10_000);
await history();
fs.rmSync(folder, { recursive: true, force: true });
