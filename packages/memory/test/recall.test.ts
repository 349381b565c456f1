import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createMemory, type Memory } from "../src/index.ts";
import { DAY_MS, NOON, openMemory } from "./support.ts";

const ANNA = { person: "anna" };
const LANGUAGES = ["en", "zh"] as const;
type Language = (typeof LANGUAGES)[number];

/** The sections of `fixtures/recall.txt` by name. */
const sections = readSections();

function section(language: Language, name: string): readonly string[] {
  return sections.get(`${language} ${name}`) ?? [];
}

function readSections(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL("fixtures/recall.txt", import.meta.url), "utf8");
  const [, ...parts] = text.split(/^== /m);
  return new Map(
    parts.map((part) => {
      const [name = "", ...lines] = part.split("\n");
      return [name, lines.filter((line) => line !== "")];
    }),
  );
}

interface Fact {
  readonly text: string;
  readonly question: string;
}

function facts(language: Language): readonly Fact[] {
  return section(language, "facts").map((line) => {
    const [text = "", question = ""] = line.split(" | ");
    return { text, question };
  });
}

/** A private conversation of 120 messages with replies: after every third one, Anna states a fact. */
async function openHistory(): Promise<Memory> {
  const memory = await createMemory({ now: () => NOON + 40 * DAY_MS });
  onTestFinished(() => memory.close());
  const [english, chinese] = [facts("en"), facts("zh")];
  const stated = english.flatMap(({ text }, place) => [text, chinese[place]?.text ?? ""]);
  const others = LANGUAGES.flatMap((language) => section(language, "others"));
  const replies = LANGUAGES.flatMap((language) => section(language, "agent"));
  const messages = others.flatMap((text, place) => [text, ...(place % 3 === 2 ? stated.splice(0, 1) : [])]);
  const common = { scope: { kind: "person", person: "anna" }, chat: "anna" } as const;
  await memory.add(
    messages.flatMap((text, place) => {
      const at = NOON + place * 4 * 3_600_000;
      const reply = replies[place % replies.length] ?? "";
      return [
        { ...common, text, at, author: { id: "anna", name: "Anna" } },
        { ...common, text: reply, at: at + 60_000, author: { id: "agent:main" } },
      ];
    }),
  );
  return memory;
}

/** Wraps a question in one of the templates of a section. */
function wrap(question: string, templates: readonly string[], place: number): string {
  return templates[place % templates.length]?.replace("{question}", question) ?? question;
}

test.each([
  ["alone", []],
  ["in polite phrases", ["polite"]],
  ["among other sentences", ["longer"]],
])("recalls at least 25 of 30 facts if the question stands %s", async (_, [form]) => {
  const memory = await openHistory();
  const missed: string[] = [];
  let lines = 0;
  for (const language of LANGUAGES) {
    const templates = form === undefined ? [] : section(language, form);
    for (const [place, { text, question }] of facts(language).entries()) {
      const recalled = await memory.recall(wrap(question, templates, place), { reader: ANNA });
      lines += recalled?.hits.length ?? 0;
      if (recalled?.hits.some((hit) => hit.text === text) !== true) missed.push(question);
    }
  }
  expect(missed.length, `missed: ${missed.join(" ")}`).toBeLessThanOrEqual(5);
  // Two lines per question on average: recall does not find the facts by returning everything.
  expect(lines).toBeLessThanOrEqual(60);
});

test("recalls something for at most a tenth of small talk", async () => {
  const memory = await openHistory();
  const phrases = LANGUAGES.flatMap((language) => section(language, "small talk"));
  const recalled: string[] = [];
  for (const phrase of phrases) {
    const hits = (await memory.recall(phrase, { reader: ANNA }))?.hits ?? [];
    if (hits.length > 0) recalled.push(`${phrase} → ${hits[0]?.text}`);
  }
  expect(recalled.length, recalled.join("\n")).toBeLessThanOrEqual(phrases.length / 10);
});

test("recalls nothing for most questions that the history does not answer", async () => {
  const memory = await openHistory();
  const questions = LANGUAGES.flatMap((language) => section(language, "nothing"));
  const recalled = await Promise.all(questions.map((text) => memory.recall(text, { reader: ANNA })));
  expect(recalled.filter((one) => one !== undefined).length).toBeLessThanOrEqual(2);
});

test("recalls a fact and not the earlier questions for it", async () => {
  const memory = await openMemory();
  const question = "What is the alarm code of the office?";
  await memory.add("soup bread tea cake salt jam".split(" ").map((food) => ({ text: `We had ${food}.` })));
  await memory.add([
    { text: "The alarm code of the office is 7730.", chat: "a" },
    { text: question, chat: "b" },
    { text: question, chat: "c" },
    { text: "Do you still have the alarm code of our office?", chat: "d" },
  ]);
  const recalled = await memory.recall(question);
  expect(recalled?.hits.map(({ text }) => text)).toEqual(["The alarm code of the office is 7730."]);
});

test("recalls a text that was said several times once, with its latest date", async () => {
  const memory = await openMemory();
  const text = "The boiler is called Bertha.";
  await memory.add([1, 3, 2].map((day) => ({ text, at: NOON + day * DAY_MS, chat: `${day}` })));
  const recalled = await memory.recall("What is the boiler called?");
  expect(recalled?.hits.map(({ at }) => at)).toEqual([NOON + 3 * DAY_MS]);
});

test("recalls the newest lines about the topic of most lines", async () => {
  const memory = await openMemory();
  const weeks = Array.from({ length: 27 }, (_, week) => ({
    text: `Falcon, week ${week}: ${["two testers joined", "the budget was cut", "Mia left"][week % 3]}.`,
    at: NOON + week * 7 * DAY_MS,
  }));
  await memory.add([
    ...weeks,
    ...Array.from({ length: 14 }, (_, n) => ({ text: `Lunch was soup, plate ${n}.` })),
  ]);
  const recalled = await memory.recall("What is the status of Falcon?");
  expect(recalled?.hits).toHaveLength(3);
  expect(recalled?.text).toContain("Falcon, week 2");
  expect(await memory.recall("Thank you!")).toBeUndefined();
});

test("recalls what the reader rarely says, even if others say it all the time", async () => {
  const memory = await openMemory();
  const said = (person: string, text: string) => ({ text, scope: { kind: "person" as const, person } });
  const days = Array.from({ length: 150 }, (_, day) => day);
  await memory.add([
    ...days.map((day) => said("mo", `The boiler was loud on day ${day}.`)),
    ...days.map((day) => said("anna", `Hello there, friend ${day}!`)),
    said("anna", "Hello, the boiler is called Bertha."),
  ]);
  for (const message of ["What is the boiler called?", "boiler?"]) {
    const recalled = await memory.recall(message, { reader: ANNA });
    expect(recalled?.hits.map(({ text }) => text)).toEqual(["Hello, the boiler is called Bertha."]);
  }
  expect(await memory.recall("hello there", { reader: ANNA })).toBeUndefined();
});

test("excludes what the prompt already contains, and fills its place", async () => {
  const memory = await openMemory();
  const scope = { kind: "person" as const, person: "anna" };
  const rooms =
    "attic barn bath chapel dairy garage hall kitchen larder library mill office pantry porch shed tower";
  const recent = rooms
    .split(" ")
    .map((room) => ({ id: `recent-${room}`, text: `A boiler by the lake, ${room}.`, scope }));
  await memory.add([
    { id: "wanted", text: "The boiler in the cellar of the house by the lake is called Bertha.", scope },
    ...recent,
    { text: "The boiler is not hers.", scope: { kind: "person", person: "mo" } },
  ]);

  const except = ({ id }: { readonly id: string }) => id.startsWith("recent");
  const recalled = await memory.recall("Is the boiler by the lake?", { reader: ANNA, except });
  expect(recalled?.hits.map(({ id }) => id)).toEqual(["wanted"]);
  const all = await memory.recall("Is the boiler by the lake?", { reader: ANNA, except: () => true });
  expect(all).toBeUndefined();
});

test("recalls a line by a relative date, and nothing for a greeting that mentions today", async () => {
  const memory = await openMemory({ now: () => NOON });
  await memory.add([
    { text: "Fed the parrot.", at: NOON - 6 * DAY_MS, chat: "a" },
    { text: "Paid the plumber.", at: NOON - 60_000, chat: "b" },
  ]);
  const recalled = await memory.recall("What did I do last Tuesday?");
  expect(recalled?.hits.map(({ text }) => text)).toEqual(["Fed the parrot."]);
  expect(await memory.recall("How are you today?")).toBeUndefined();
});
