import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, NOON, openMemory, textsOf } from "./support.ts";

test("Finds Chinese words of two characters, and single ones, inside of sentences", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "我们明天去上海看展览。" },
    { text: "他家里养了一只猫。" },
    { text: "今天的会议改到三点。" },
  ]);

  expect(await textsOf(memory, "上海", { limit: 1 })).toEqual(["我们明天去上海看展览。"]);
  expect(await textsOf(memory, "猫", { limit: 1 })).toEqual(["他家里养了一只猫。"]);
  expect(await textsOf(memory, "会议几点", { limit: 1 })).toEqual(["今天的会议改到三点。"]);
});

test("Finds Japanese and Korean, whatever ending stands behind a word", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "来週の水曜日に大阪へ出張します。" },
    { text: "우리는 도서관에서 만나기로 했습니다." },
  ]);

  expect(await textsOf(memory, "大阪出張", { limit: 1 })).toEqual(["来週の水曜日に大阪へ出張します。"]);
  expect(await textsOf(memory, "도서관", { limit: 1 })).toEqual(["우리는 도서관에서 만나기로 했습니다."]);
});

test("Finds English in other forms of its words, and not by words that say nothing", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "She went to the mountains and bought three paintings.", chat: "a" },
    { text: "The boiler is in the cellar.", chat: "b" },
  ]);

  expect(await textsOf(memory, "who buys a painting?")).toEqual([
    "She went to the mountains and bought three paintings.",
  ]);
  expect(await textsOf(memory, "What is it that you were to do?")).toEqual([]);
});

test("Takes a query for what it says, whatever FTS5 would make of it", async () => {
  const memory = await openMemory();
  await memory.add({ text: 'The key is under the "blue" flowerpot (left-hand side).', id: "key" });

  for (const query of [
    '"blue',
    "(key",
    "key NEAR flowerpot",
    "left-hand",
    "body:key",
    "key*",
    "NOT key",
    "key' OR '1'='1",
    "^key",
  ]) {
    const { hits } = await memory.search(query);
    expect([query, hits.map(({ id }) => id)]).toEqual([query, ["key"]]);
  }
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 40 }), async (query) => {
      await expect(memory.search(query)).resolves.toMatchObject({ mode: { kind: "words" } });
    }),
  );
});

test("Finds by dates, however they are written", async () => {
  const memory = await openMemory({ now: () => NOON });
  await memory.add([
    { text: "Dinner with Ann.", at: NOON - DAY_MS, id: "yesterday", chat: "a" },
    { text: "Dinner with Ben.", at: NOON - 40 * DAY_MS, id: "january", chat: "b" },
    { text: "The fair opens on 2026-09-14.", at: NOON, id: "fair", chat: "c" },
  ]);

  const first = async (query: string) => (await memory.search(query)).hits[0]?.id;
  expect(await first("dinner on 1 March 2026")).toBe("yesterday");
  expect(await first("dinner yesterday")).toBe("yesterday");
  expect(await first("January 2026")).toBe("january");
  expect(await first("2026年1月")).toBe("january");
  expect(await first("what is on September 14th?")).toBe("fair");
  expect(await first("9月14日")).toBe("fair");
});

test("Puts the newer of two facts first, and still tells the older", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "The office is at 12 Mill Lane.", at: NOON - 200 * DAY_MS, chat: "a" },
    { text: "The office is at 40 Dock Road.", at: NOON - 100 * DAY_MS, chat: "b" },
    { text: "The office is at 7 Hill Street.", at: NOON - 150 * DAY_MS, chat: "c" },
  ]);

  expect(await textsOf(memory, "Where is the office?")).toEqual([
    "The office is at 40 Dock Road.",
    "The office is at 7 Hill Street.",
    "The office is at 12 Mill Lane.",
  ]);
});

test("returns a repeated text once", async () => {
  const memory = await openMemory();
  const repeated = Array.from({ length: 5 }, (_, at) => ({
    text: "The wifi password is swordfish.",
    chat: `${at}`,
  }));
  await memory.add([...repeated, { text: "The wifi router moved.", chat: "x" }]);

  expect(await textsOf(memory, "wifi password", { limit: 2 })).toEqual([
    "The wifi password is swordfish.",
    "The wifi router moved.",
  ]);
});

test("Finds an answer by the question before it, with its neighbours", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "Good morning!", author: "Ann" },
    { text: "Which instrument does Marta learn?", author: "Ann" },
    { text: "The cello, since May.", author: "Ben", id: "answer" },
    { text: "Lovely.", author: "Ann" },
  ]);

  const { hits } = await memory.search("instrument of Marta", { limit: 2, neighbours: 2 });
  const answer = hits.find(({ id }) => id === "answer");
  expect(answer?.before.map(({ text }) => text)).toEqual([
    "Good morning!",
    "Which instrument does Marta learn?",
  ]);
  expect(answer?.after.map(({ text }) => text)).toEqual(["Lovely."]);
});

test("Says what was searched, also when nothing was found", async () => {
  const memory = await openMemory();
  await memory.add({ text: "The wifi password is swordfish." });

  const nothing = await memory.search("submarines");
  expect(nothing.hits).toEqual([]);
  expect(nothing.summary).toBe(
    "no hits in no parts of notes and 1 turn of conversations; looked for: submarin; words only: no embeddings are configured.",
  );
  expect((await memory.search("is it?")).summary).toContain("no word that could be looked for");
});

test("A turn with the id of an earlier one replaces it", async () => {
  const memory = await openMemory();
  await memory.add({ id: "1", text: "We meet at noon." });
  await memory.add({ id: "1", text: "We meet at midnight." });

  expect(await textsOf(memory, "meet noon midnight")).toEqual(["We meet at midnight."]);
});
