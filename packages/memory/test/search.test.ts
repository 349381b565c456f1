import fc from "fast-check";
import { expect, test } from "vitest";
import { DAY_MS, NOON, openMemory, textsOf } from "./support.ts";

test("finds Chinese words of one and two characters inside sentences", async () => {
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

test("finds Japanese and Korean words with any ending", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "来週の水曜日に大阪へ出張します。" },
    { text: "우리는 도서관에서 만나기로 했습니다." },
  ]);

  expect(await textsOf(memory, "大阪出張", { limit: 1 })).toEqual(["来週の水曜日に大阪へ出張します。"]);
  expect(await textsOf(memory, "도서관", { limit: 1 })).toEqual(["우리는 도서관에서 만나기로 했습니다."]);
});

test("finds other forms of English words, and nothing by stop words", async () => {
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

test("does not parse queries as FTS5 syntax", async () => {
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

test("finds absolute and relative dates", async () => {
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
  expect(await first("九月十四号有什么活动")).toBe("fair");
});

test("ranks the newer of two equal matches first", async () => {
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

test("finds an answer by the words of the question before it", async () => {
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

test("reports what was searched if nothing was found", async () => {
  const memory = await openMemory();
  await memory.add({ text: "The wifi password is swordfish." });

  const nothing = await memory.search("submarines");
  expect(nothing.hits).toEqual([]);
  expect(nothing.summary).toBe(
    "no hits in no parts of notes and 1 turn of conversations; looked for: submarin; words only: no embeddings are configured.",
  );
  expect((await memory.search("is it?")).summary).toContain("contains only stop words");
});

test("replaces a turn with the same id", async () => {
  const memory = await openMemory();
  await memory.add({ id: "1", text: "We meet at noon." });
  await memory.add({ id: "1", text: "We meet at midnight." });

  expect(await textsOf(memory, "meet noon midnight")).toEqual(["We meet at midnight."]);
});

test("does not find turns by the id of their author", async () => {
  const memory = await openMemory();
  await memory.add([
    { text: "Noted, thanks.", author: { id: "agent:main" } },
    { text: "The estate agent is called Möller.", author: { id: "u1", name: "Anna" }, chat: "b" },
    { text: "The main reason was money.", author: { id: "u1", name: "Anna" }, chat: "c" },
  ]);
  expect(await textsOf(memory, "Who is our estate agent?")).toEqual(["The estate agent is called Möller."]);
  expect(await textsOf(memory, "main reason")).toEqual(["The main reason was money."]);
  expect(await textsOf(memory, "Anna", { neighbours: 0 })).toHaveLength(2);
});

// Relative to Monday, 2 March 2026.
test.each([
  ["yesterday", "2026-03-01"],
  ["the day before yesterday", "2026-02-28"],
  ["last Tuesday", "2026-02-24"],
  ["next Friday", "2026-03-06"],
  ["5 days ago", "2026-02-25"],
  ["in three days", "2026-03-05"],
  ["last week", "2026-02-23"],
  ["two weeks ago", "2026-02-18"],
  ["last month", "2026-02-05"],
  ["on the 9th", "2026-02-09"],
  ["in December", "2025-12-05"],
  ["前天", "2026-02-28"],
  ["大前天", "2026-02-27"],
  ["上周二", "2026-02-24"],
  ["下星期五", "2026-03-13"],
  ["上上周日", "2026-02-22"],
  ["五天前", "2026-02-25"],
  ["上周末", "2026-03-01"],
  ["上个月", "2026-02-05"],
  ["十二月份", "2025-12-05"],
  ["二月二十五号", "2026-02-25"],
  ["9号", "2026-02-09"],
])("finds what was said %s", async (expression, date) => {
  const memory = await openMemory({ now: () => NOON });
  const at = new Date(`${date}T10:00:00`);
  const other = new Date("2026-01-19T10:00:00");
  await memory.add([
    { text: "We ate.", at, id: "wanted", chat: "a" },
    { text: "We ate again.", at: other, id: "other", chat: "b" },
  ]);
  expect((await memory.search(expression)).hits[0]?.id).toBe("wanted");
});
