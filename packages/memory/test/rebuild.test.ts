import {
  appendFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemory, type Memory } from "../src/index.ts";
import { NOON, openMemory, temporaryFolder, textsOf } from "./support.ts";

const QUERIES = ["alpha", "beta", "gamma", "delta", "alpha beta", "北京", "2026-03-02"];

/** Returns everything that can be observed of an index. */
async function observe(memory: Memory): Promise<unknown> {
  const results = [];
  for (const query of QUERIES) {
    const { hits, searched } = await memory.search(query, {
      limit: 100,
      neighbours: 2,
      reader: { chats: "all", person: "ann" },
    });
    results.push({
      query,
      searched,
      hits: hits.map(({ score, ...hit }) => ({ ...hit, score: score.toFixed(6) })),
    });
  }
  return results;
}

type Step =
  | { readonly do: "add"; readonly id: number; readonly text: string; readonly person: boolean }
  | { readonly do: "write"; readonly text: string; readonly lasting: boolean }
  | { readonly do: "edit"; readonly file: string; readonly text: string }
  | { readonly do: "append"; readonly file: string; readonly text: string }
  | { readonly do: "delete"; readonly file: string }
  | { readonly do: "deleteLine"; readonly line: number }
  | { readonly do: "forget"; readonly query: string }
  | { readonly do: "crash" }
  | { readonly do: "tornWrite" }
  | { readonly do: "damage" }
  | { readonly do: "rebuild" };

const words = fc
  .array(fc.constantFrom("alpha", "beta", "gamma", "delta", "北京烤鸭", "2026-03-02", "# heading", "-"), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(" "));
const files = fc.constantFrom("MEMORY.md", "2026-03-01.md", "people/ann/MEMORY.md", "chats/team/notes.md");
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("add" as const),
      id: fc.nat(6),
      text: words,
      person: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("write" as const), text: words, lasting: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("edit" as const), file: files, text: words }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("append" as const), file: files, text: words }) },
  fc.record({ do: fc.constant("delete" as const), file: files }),
  fc.record({ do: fc.constant("deleteLine" as const), line: fc.nat(5) }),
  fc.record({ do: fc.constant("forget" as const), query: fc.constantFrom("alpha", "beta", "北京") }),
  fc.constantFrom<Step>({ do: "crash" }, { do: "tornWrite" }, { do: "damage" }, { do: "rebuild" }),
);

/** A memory that goes through steps. Crashed instances stay open, as if their process had been killed. */
class Scenario {
  readonly folder: string;
  memory: Memory;
  readonly crashed: Memory[] = [];

  constructor(folder: string, memory: Memory) {
    this.folder = folder;
    this.memory = memory;
  }

  async take(step: Step): Promise<void> {
    const { folder, memory } = this;
    switch (step.do) {
      case "add": {
        const scope = step.person
          ? ({ kind: "person", person: "ann" } as const)
          : ({ kind: "everyone" } as const);
        await memory.add({
          id: `turn-${step.id}`,
          text: step.text,
          scope,
          chat: "chat",
          at: NOON + step.id * 60_000,
        });
        break;
      }
      case "write":
        await memory.write({ text: step.text, kind: step.lasting ? "lasting" : "daily" });
        break;
      case "edit":
        await memory.write({ text: "makes the folder", scope: { kind: "person", person: "ann" } });
        await memory.write({ text: "makes the folder", scope: { kind: "chat", chat: "team" } });
        writeFileSync(join(folder, step.file), `${step.text}\n`);
        break;
      case "append":
        await memory.write({ text: "makes the folder", scope: { kind: "person", person: "ann" } });
        await memory.write({ text: "makes the folder", scope: { kind: "chat", chat: "team" } });
        appendFileSync(join(folder, step.file), `${step.text}\n`);
        break;
      case "delete":
        rmSync(join(folder, step.file), { force: true });
        break;
      case "deleteLine":
        deleteLine(join(folder, ".turns.jsonl"), step.line);
        break;
      case "forget": {
        const reader = { person: "ann", chats: "all" } as const;
        const { hits } = await memory.search(step.query, { reader, limit: 2 });
        await memory.forget(
          hits.map(({ id }) => id),
          { reader },
        );
        break;
      }
      case "crash":
        this.crashed.push(memory);
        this.memory = await reopen(folder);
        break;
      case "tornWrite":
        // The state after a power failure during an append.
        appendFileSync(join(folder, ".turns.jsonl"), '{"id":"torn","text":"alp');
        break;
      case "damage":
        await memory.close();
        for (const suffix of ["-wal", "-shm"]) rmSync(join(folder, `.index.db${suffix}`), { force: true });
        appendFileSync(join(folder, ".index.db"), "");
        truncateSync(join(folder, ".index.db"), 6_000);
        this.memory = await reopen(folder);
        break;
      case "rebuild":
        await memory.rebuild();
        break;
    }
  }
}

/** Deletes a line of a file, as if edited by hand. */
function deleteLine(file: string, line: number): void {
  if (!existsSync(file)) return;
  writeFileSync(file, readFileSync(file, "utf8").split("\n").toSpliced(line, 1).join("\n"));
}

const reopen = (folder: string) => createMemory({ folder, maxAgeMs: 0, now: () => NOON });

test("has the same index as one built from the files, after any writes, edits, removals, crashes and rebuilds", async () => {
  const edited: Step = { do: "edit", file: "MEMORY.md", text: "alpha" };
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 14 }), async (all) => {
      const folder = temporaryFolder();
      const scenario = new Scenario(folder, await reopen(folder));
      for (const step of all) await scenario.take(step);
      await scenario.memory.refresh();

      const fresh = await createMemory({ folder, index: ":memory:", maxAgeMs: 0, now: () => NOON });
      expect(await observe(scenario.memory)).toEqual(await observe(fresh));
      await Promise.all([fresh, scenario.memory, ...scenario.crashed].map((memory) => memory.close()));
    }),
    {
      numRuns: 60,
      // Truncating an index that another connection has open causes a short read.
      examples: [[[edited, { do: "crash" }, { do: "damage" }, edited]]],
    },
  );
});

test("rebuilds an index that is damaged while it is open, and answers the search", async () => {
  const folder = temporaryFolder();
  const problems: string[] = [];
  const memory = await openMemory({ folder, onProblem: (problem) => problems.push(problem) });
  await memory.add(Array.from({ length: 400 }, (_, at) => ({ text: `turn ${at} about alpha` })));
  await memory.close();
  const again = await openMemory({ folder, onProblem: (problem) => problems.push(problem) });
  // Beyond the first page, so that the file still opens.
  writeFileSync(join(folder, ".index.db"), Buffer.alloc(60_000, 1), { flag: "r+" });

  expect(await textsOf(again, "alpha", { limit: 5 })).toHaveLength(5);
  expect((await again.status()).turns).toBe(400);
});

test("replaces a file that is not an index", async () => {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, ".index.db"),
    "no database at all, but long enough to be looked at twice".repeat(200),
  );
  const memory = await openMemory({ folder });
  await memory.add({ text: "alpha" });
  expect(await textsOf(memory, "alpha")).toEqual(["alpha"]);
});

test("opens an index at the next call after a failure, with private permissions", async () => {
  const folder = temporaryFolder();
  const inTheWay = join(folder, "index");
  writeFileSync(inTheWay, "no folder");
  const memory = await openMemory({ folder: join(folder, "notes"), index: join(inTheWay, "a.db") });
  await expect(memory.search("alpha")).rejects.toThrow();

  rmSync(inTheWay);
  await memory.add({ text: "alpha" });
  expect(await textsOf(memory, "alpha")).toEqual(["alpha"]);
  expect(statSync(inTheWay).mode & 0o777).toBe(0o700);
});

test("rebuilds an index with any damaged page at the first search", async () => {
  const folder = temporaryFolder();
  const file = join(folder, ".index.db");
  const before = await createMemory({ folder });
  await before.add(Array.from({ length: 100 }, (_, at) => ({ text: `The alpha of beta number ${at}` })));
  await before.close();
  const whole = readFileSync(file);
  for (let page = 0; page < whole.length / 4_096; page++) {
    const damaged = Buffer.from(whole);
    // Keep the file header, which identifies the version of the index.
    damaged.fill(0xaa, page === 0 ? 100 : page * 4_096, (page + 1) * 4_096);
    for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
    writeFileSync(file, damaged);
    const memory = await createMemory({ folder });
    expect(await textsOf(memory, "alpha beta"), `page ${page}`).toHaveLength(8);
    await memory.close();
  }
});

test("finds turns that are added after lines of the file were deleted", async () => {
  const folder = temporaryFolder();
  const file = join(folder, ".turns.jsonl");
  const before = await createMemory({ folder });
  await before.add([{ text: "A long story about alpha." }, { text: "beta" }]);
  await before.close();
  writeFileSync(file, readFileSync(file, "utf8").split("\n").slice(1).join("\n"));
  const memory = await openMemory({ folder });
  await memory.add({ text: "gamma" });
  expect(await textsOf(memory, "gamma", { limit: 1 })).toEqual(["gamma"]);
});

test("removes turns whose lines were deleted from the file, and keeps the others", async () => {
  const folder = temporaryFolder();
  const memory = await openMemory({ folder });
  await memory.add(["alpha one", "alpha two", "alpha three"].map((text) => ({ text })));
  expect(await textsOf(memory, "alpha")).toHaveLength(3);
  deleteLine(join(folder, ".turns.jsonl"), 1);
  expect((await textsOf(memory, "alpha")).toSorted()).toEqual(["alpha one", "alpha three"]);
  // A longer turn that is added later does not hide the deletion.
  deleteLine(join(folder, ".turns.jsonl"), 0);
  await memory.add({ text: "alpha four, which is much longer than the one that somebody took out" });
  expect(await textsOf(memory, "alpha one")).toEqual(
    expect.arrayContaining([expect.stringContaining("alpha four"), "alpha three"]),
  );
  expect((await memory.status()).turns).toBe(2);
  expect(readFileSync(join(folder, ".index.db")).includes("alpha two")).toBe(false);
});

test("indexes lines that were edited without changing their length", async () => {
  const folder = temporaryFolder();
  const file = join(folder, ".turns.jsonl");
  const memory = await openMemory({ folder });
  await memory.add({ text: "alpha" });
  expect(await textsOf(memory, "alpha")).toEqual(["alpha"]);
  writeFileSync(file, readFileSync(file, "utf8").replace("alpha", "gamma"));
  expect(await textsOf(memory, "gamma")).toEqual(["gamma"]);
  expect(await textsOf(memory, "alpha")).toEqual([]);
});

test("does not read the file again after forgetting turns", async () => {
  const folder = temporaryFolder();
  const memory = await openMemory({ folder });
  await memory.add(Array.from({ length: 300 }, (_, at) => ({ id: `turn-${at}`, text: `alpha ${at}` })));
  await memory.forget(["turn-7"]);
  const raw = new Sqlite(join(folder, ".index.db"), { readonly: true });
  const numbers = raw.prepare("SELECT max(n) FROM chunk").pluck();
  expect(numbers.get()).toBe(300);
  raw.close();
  expect((await memory.status()).turns).toBe(299);
});
