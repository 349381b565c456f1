import fc from "fast-check";
import { expect, test } from "vitest";
import type { Chunk, Memory, Reader, Scope } from "../src/index.ts";
import { NOON, openMemory, temporaryFolder } from "./support.ts";

const PEOPLE = ["ann", "ben", "cleo"];
const CHATS = ["team", "family"];

const scopes: fc.Arbitrary<Scope> = fc.oneof(
  fc.constantFrom(...PEOPLE).map((person): Scope => ({ kind: "person", person })),
  fc.constantFrom(...CHATS).map((chat): Scope => ({ kind: "chat", chat })),
  fc.constant<Scope>({ kind: "everyone" }),
);
/** Readers in private, in a group, and operators. */
const readers: fc.Arbitrary<Reader> = fc.oneof(
  fc.constantFrom(...PEOPLE).map((person): Reader => ({ person })),
  fc.constant<Reader>({ person: ["ann", "ben"] }),
  fc.constantFrom(...CHATS).map((chat): Reader => ({ chats: [chat] })),
  fc.constantFrom(...PEOPLE).map((person): Reader => ({ person, chats: "all" })),
  fc.constant<Reader>({}),
);

/** An independent implementation of the access rule. */
function maySee({ person = [], chats = [] }: Reader, { scope, author }: Chunk): boolean {
  const people = [person].flat();
  if (scope.kind === "everyone") return true;
  if (scope.kind === "person") return people.includes(scope.person);
  if (chats === "all" || chats.includes(scope.chat)) return true;
  return author !== undefined && people.includes(author.id);
}

async function everythingShown(memory: Memory, reader: Reader): Promise<Chunk[]> {
  const { hits } = await memory.search("secret plan wine", { reader, limit: 100, neighbours: 3 });
  const recalled = await memory.recall("secret plan wine", {
    reader,
    maxTokens: 10_000,
    maxByChance: Number.POSITIVE_INFINITY,
  });
  return [...hits.flatMap((hit) => [hit, ...hit.before, ...hit.after]), ...(recalled?.hits ?? [])];
}

test("shows readers everything that they may see, and nothing else, by any method", async () => {
  const said = fc.record({
    scope: scopes,
    author: fc.constantFrom(...PEOPLE, "agent"),
    as: fc.constantFrom("turn" as const, "note" as const),
    words: fc.constantFrom("secret plan", "wine", "nothing of note", "plan of wine"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 14 }), readers, async (all, reader) => {
      const memory = await openMemory({ now: () => NOON });
      const ids: string[] = [];
      for (const [place, { scope, author, as, words }] of all.entries()) {
        const text = `${words} ${place}`;
        // One chat for all, so that private turns are neighbours of others.
        if (as === "turn") ids.push(...(await memory.add({ text, scope, author, chat: "one" })));
        else ids.push((await memory.write({ text, scope, author })).id);
      }

      const shown = await everythingShown(memory, reader);
      expect(shown.filter((chunk) => !maySee(reader, chunk))).toEqual([]);
      let visible = 0;
      for (const id of ids) {
        const all = await memory.get(id, { reader: { person: "nobody", chats: [] }, neighbours: 3 });
        const own = await memory.get(id, { reader, neighbours: 3 });
        if (own === undefined) continue;
        visible++;
        expect([own, ...own.before, ...own.after].filter((chunk) => !maySee(reader, chunk))).toEqual([]);
        if (all !== undefined) expect(all.scope.kind).toBe("everyone");
      }
      const { searched } = await memory.search("secret", { reader });
      expect(searched.notes + searched.turns).toBe(visible);
      await memory.close();
    }),
    { numRuns: 60 },
  );
});

test("does not show in a group what the same person said in private", async () => {
  const memory = await openMemory();
  await memory.add({ text: "My salary is 4,200.", author: "ann", scope: { kind: "person", person: "ann" } });

  expect((await memory.search("salary", { reader: { person: "ann" } })).hits).toHaveLength(1);
  expect((await memory.search("salary", { reader: { chats: ["team"] } })).hits).toEqual([]);
  expect((await memory.search("salary", { reader: { person: "ben", chats: "all" } })).hits).toEqual([]);
  expect((await memory.search("salary")).hits).toEqual([]);
});

test("shows people in private what they said in a group, and not what others said there", async () => {
  const memory = await openMemory();
  const scope = { kind: "chat", chat: "team" } as const;
  await memory.add([
    { text: "I bring the cake.", author: "ann", scope, chat: "team" },
    { text: "I bring the wine.", author: "ben", scope, chat: "team" },
  ]);

  const { hits } = await memory.search("bring", { reader: { person: "ann" } });
  expect(hits.map(({ text, before, after }) => [text, before, after])).toEqual([
    ["I bring the cake.", [], []],
  ]);
});

test("encodes ids so that nobody's notes end up in another folder", async () => {
  const folder = temporaryFolder();
  const memory = await openMemory({ folder });
  const hostile = [
    "../../etc",
    "..",
    ".",
    "ann/../ben",
    "a%2Fb",
    "ann\u0000",
    "人 名",
    "CON",
    "x".repeat(60),
  ];
  for (const person of hostile)
    await memory.write({ text: `secret of ${person}`, scope: { kind: "person", person } });

  for (const person of hostile) {
    const { hits } = await memory.search("secret", { reader: { person }, limit: 20 });
    expect(hits.map(({ scope }) => scope)).toEqual([{ kind: "person", person }]);
    expect(hits[0]?.note?.path).toMatch(/^people\/[^/]+\/[^/]+\.md$/);
  }
  expect((await memory.search("secret")).hits).toEqual([]);
});

test("forgets only what the reader may see", async () => {
  const memory = await openMemory();
  const [id = ""] = await memory.add({ text: "secret", scope: { kind: "person", person: "ann" } });

  expect(await memory.forget([id], { reader: { person: "ben", chats: "all" } })).toEqual([]);
  expect(await memory.forget([id], { reader: { person: "ann" } })).toEqual([id]);
  expect(await memory.get(id, { reader: { person: "ann" } })).toBeUndefined();
});

test("applies scopes to vector search", async () => {
  const memory = await openMemory({
    embeddings: { model: "same", embed: async (texts) => texts.map(() => Float32Array.of(1, 0)) },
  });
  await memory.add([
    { text: "the vault opens at nine", scope: { kind: "person", person: "ann" } },
    { text: "the shop opens at ten", scope: { kind: "chat", chat: "team" }, author: "ben" },
  ]);
  await memory.embedded();

  const found = async (reader: Reader) =>
    (await memory.search("unrelated", { reader })).hits.map(({ text }) => text);
  expect(await found({})).toEqual([]);
  expect(await found({ person: "ann" })).toEqual(["the vault opens at nine"]);
  expect(await found({ person: "ben" })).toEqual(["the shop opens at ten"]);
  expect(await found({ chats: ["team"] })).toEqual(["the shop opens at ten"]);
});
