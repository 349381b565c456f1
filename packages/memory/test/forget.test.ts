import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMemory, type Marks } from "../src/index.ts";
import { DAY_MS, NOON, openMemory, temporaryFolder, textsOf } from "./support.ts";

/** Returns the contents of all files under a folder. */
function bytesOf(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

test("removes forgotten text from notes, versions, conversations, vectors and the index file", async () => {
  const folder = temporaryFolder();
  let now = NOON - 5 * DAY_MS;
  const embeddings = {
    model: "one",
    embed: async (texts: readonly string[]) => texts.map(() => Float32Array.of(1, 0)),
  };
  const memory = await openMemory({ folder, embeddings, now: () => now });
  const { id: note } = await memory.write({ text: "The passphrase is xylophoneberry." });
  const { id: lasting } = await memory.write({ text: "Again: xylophoneberry.", kind: "lasting" });
  await memory.write({ text: "Something else that stays.", kind: "lasting" });
  const [turn = ""] = await memory.add([{ text: "Use xylophoneberry." }, { text: "Fine, that stays too." }]);
  now = NOON;
  await memory.consolidate({ distil: async () => [{ text: "Derived xylophoneberry.", from: [0] }] });
  await memory.embedded();
  expect(bytesOf(folder)).toContain("xylophoneberry");

  expect(await memory.forget([note, lasting, turn])).toHaveLength(3);

  // All vectors are equal, so a search would return whatever was not removed.
  expect(await textsOf(memory, "xylophoneberry")).toHaveLength(2);
  expect(bytesOf(folder)).not.toMatch(/xylophon/i);
  expect((await memory.status()).vectors).toMatchObject({ pending: 0 });
});

test("completes a removal that a crash interrupted", async () => {
  const folder = temporaryFolder();
  const before = await createMemory({ folder });
  const [id = ""] = await before.add({ text: "xylophoneberry" });
  await before.write({ text: "xylophoneberry noted" });
  const path = readdirSync(folder).find((name) => name.endsWith(".md")) ?? "";
  const { hits } = await before.search("noted");
  await before.close();
  // The state after a crash between planning the removal and carrying it out.
  const hash = createHash("sha256")
    .update(hits[0]?.text ?? "")
    .digest("base64url");
  writeFileSync(
    join(folder, ".forgetting"),
    JSON.stringify({ turns: [id], sections: [{ path, hashes: [hash] }] }),
  );

  const after = await openMemory({ folder });
  expect(await textsOf(after, "xylophoneberry")).toEqual([]);
  await after.close();
  expect(bytesOf(folder)).not.toMatch(/xylophon/i);
});

test("does not index forgotten turns of a host's conversations again", async () => {
  const folder = temporaryFolder();
  const kept = ["one", "two"].map((text) => ({
    id: text,
    text: `${text} fact`,
    at: NOON,
    chat: "c",
    scope: { kind: "everyone" } as const,
  }));
  const turns = {
    async *read(marks: Marks) {
      if (marks.get("kept") === undefined) yield { turns: kept, marks: new Map([["kept", "all"]]) };
    },
  };
  const memory = await openMemory({ folder, turns });
  await memory.forget(["one"]);
  await memory.rebuild();

  expect(await textsOf(memory, "fact")).toEqual(["two fact"]);
  await expect(memory.add({ text: "three" })).rejects.toThrow("reads conversations from `turns`");
});

test("forgets everything with the same text that the reader may see", async () => {
  const memory = await openMemory();
  const said = (person: string, chat: string) => ({
    text: "My PIN is 4711.",
    chat,
    scope: { kind: "person", person } as const,
  });
  const [id = ""] = await memory.add([said("ann", "a"), said("ann", "b"), said("ben", "c")]);

  expect(await memory.forget([id], { reader: { person: "ann" } })).toHaveLength(2);
  expect(await textsOf(memory, "PIN", { reader: { person: "ann" } })).toEqual([]);
  expect(await textsOf(memory, "PIN", { reader: { person: "ben" } })).toEqual(["My PIN is 4711."]);
});

test("lets other work run while it purges the index of many turns", async () => {
  const memory = await openMemory({ folder: temporaryFolder() });
  await memory.add(
    Array.from({ length: 4_000 }, (_, n) => ({ id: `${n}`, text: `Turn ${n} is about topic ${n % 97}.` })),
  );
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 1);
  await memory.forget(["7"]);
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(1);
});
