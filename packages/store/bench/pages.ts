// Which pages the commits of messages write that come one after the other: the tables and indexes behind the bytes of
// `bench/index.ts`. Usage: node bench/pages.ts [messages]
import fs from "node:fs";
import os from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { openStore } from "../src/index.ts";
import { flow } from "./flow.ts";

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

interface Page {
  readonly name: string;
  readonly pageno: number;
}

/** The pages of each commit in a write-ahead log from `start` on; its frames say which they are, and where one ends. */
function commitsIn(log: Buffer, start: number, pageSize: number): number[][] {
  const commits: number[][] = [];
  let pages: number[] = [];
  const frame = FRAME_HEADER_BYTES + pageSize;
  for (let at = start; at + frame <= log.length; at += frame) {
    pages.push(log.readUInt32BE(at));
    const databasePages = log.readUInt32BE(at + 4);
    if (databasePages === 0) continue;
    commits.push(pages);
    pages = [];
  }
  return commits;
}

const messages = Number(process.argv[2] ?? 40);
const folder = fs.mkdtempSync(join(os.tmpdir(), "signalbox-pages-"));
const path = join(folder, "a.db");
const store = await openStore({ path });
const lease = await store.leases.acquire("gateway", "bench", 3_600_000);
if (lease === undefined) throw new Error("no lease");
const { message, settled } = flow(store, lease);
for (let i = 0; i < 60; i += 1) await message(0);
await settled();
const start = Math.max(HEADER_BYTES, fs.statSync(`${path}-wal`).size);
for (let i = 0; i < messages; i += 1) await message(0);
await settled();

const raw = new Sqlite(path, { readonly: true });
const names = new Map(
  raw
    .prepare<[], Page>("SELECT name, pageno FROM dbstat")
    .all()
    .map(({ name, pageno }) => [pageno, name]),
);
const commits = commitsIn(
  fs.readFileSync(`${path}-wal`),
  start,
  Number(raw.pragma("page_size", { simple: true })),
);
raw.close();
await store.close();
fs.rmSync(folder, { recursive: true, force: true });

const written = Map.groupBy(commits.flat(), (page) => names.get(page) ?? "given back");
for (const [name, pages] of [...written].toSorted(([, a], [, b]) => b.length - a.length))
  console.log(`${name.padEnd(16)} ${(pages.length / messages).toFixed(2)} pages a message`);
const perMessage = (count: number): string => (count / messages).toFixed(2);
console.log(`${perMessage(commits.length)} commits, ${perMessage(commits.flat().length)} pages a message`);
