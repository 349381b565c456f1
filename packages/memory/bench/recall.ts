import { readFileSync } from "node:fs";
import { createMemory, type Memory, type Reader, type Scope } from "../src/index.ts";

const LANGUAGES = ["en", "zh"] as const;
type Language = (typeof LANGUAGES)[number];
const PEOPLE = ["ann", "bob"] as const;
type Person = (typeof PEOPLE)[number];

const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 8, 1, 8);
const DAYS_LATER = 10;
const GROUP = "agent:main:feishu:group:oc_1";

interface Fact {
  readonly who: Person;
  readonly text: string;
  readonly question: string;
}

function readSections(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync(new URL("recall.txt", import.meta.url), "utf8");
  const [, ...parts] = text.split(/^== /m);
  return new Map(
    parts.map((part) => {
      const [name = "", ...lines] = part.split("\n");
      return [name, lines.filter((line) => line !== "")];
    }),
  );
}

const sections = readSections();
const section = (language: Language, name: string) => sections.get(`${language} ${name}`) ?? [];

function readFacts(language: Language): Fact[] {
  return section(language, "facts").map((line) => {
    const [, who, text = "", question = ""] = /^(ann|bob): (.+) \| (.+)$/.exec(line) ?? [];
    return { who: who === "bob" ? "bob" : "ann", text, question };
  });
}

const scopeOf = (person: Person): Scope => ({ kind: "person", person });
const readerOf = (person: Person): Reader => ({ person });

/** Two private conversations and a group of some weeks, with an answer of the agent to each message. */
async function openHistory(): Promise<Memory> {
  const memory = await createMemory({ now: () => START + 45 * 24 * HOUR_MS });
  const facts = readFacts("en").flatMap((fact, place) => [fact, readFacts("zh")[place] ?? fact]);
  const others = LANGUAGES.flatMap((language) => section(language, "others"));
  const replies = LANGUAGES.flatMap((language) => section(language, "agent"));
  const messages = others.flatMap((text, place) => [
    { who: PEOPLE[place % 2] ?? "ann", text },
    ...(place % 2 === 1 ? facts.splice(0, 1) : []),
  ]);
  messages.push(...facts);
  let at = START;
  for (const [place, { who, text }] of messages.entries()) {
    at += 5 * HOUR_MS;
    const reply = replies[place % replies.length] ?? "";
    const common = { chat: who, scope: scopeOf(who) };
    await memory.add([
      { ...common, text, at, author: { id: who, name: who } },
      { ...common, text: reply, at: at + 60_000, author: { id: "agent:main" } },
    ]);
  }
  for (const line of LANGUAGES.flatMap((language) => section(language, "group"))) {
    const [who = "", text = ""] = line.split(": ");
    await memory.add({
      text,
      at,
      chat: GROUP,
      scope: { kind: "chat", chat: GROUP },
      author: { id: who, name: who },
    });
  }
  return memory;
}

function wrap(question: string, templates: readonly string[], place: number): string {
  return templates[place % templates.length]?.replace("{question}", question) ?? question;
}

const FORMS = { alone: undefined, polite: "polite", "among other sentences": "longer" } as const;

/**
 * Measures what `recall` finds: facts asked for in three forms, small talk, questions without an answer, and leaks.
 * Nothing is added between the questions.
 */
export async function measureRecall(): Promise<void> {
  const memory = await openHistory();
  console.log(
    `\nRecall: 30 facts in English and Chinese among 65 other messages, asked ${DAYS_LATER} days later`,
  );
  let leaks = 0;
  for (const [name, form] of Object.entries(FORMS)) {
    const right: Record<Language, number> = { en: 0, zh: 0 };
    let lines = 0;
    const missed: string[] = [];
    for (const language of LANGUAGES) {
      const templates = form === undefined ? [] : section(language, form);
      for (const [place, { who, text, question }] of readFacts(language).entries()) {
        const asked = wrap(question, templates, place);
        const found = await memory.recall(asked, { reader: readerOf(who) });
        lines += found?.hits.length ?? 0;
        if (found?.hits.some((hit) => hit.text === text) === true) right[language] += 1;
        else missed.push(question);
        for (const reader of [readerOf(who === "ann" ? "bob" : "ann"), { chats: [GROUP] }]) {
          const other = await memory.recall(asked, { reader });
          const hits = (await memory.search(asked, { reader })).hits;
          leaks += [...(other?.hits ?? []), ...hits].filter((hit) => hit.text === text).length;
        }
      }
    }
    console.log(
      `  asked ${name.padEnd(22)} ${right.en + right.zh} of 30 (English ${right.en}, Chinese ${right.zh}), ${lines} lines`,
    );
    for (const question of missed) console.log(`    missed: ${question}`);
  }
  const count = async (name: string) => {
    let recalled = 0;
    let asked = 0;
    for (const text of LANGUAGES.flatMap((language) => section(language, name)))
      for (const who of PEOPLE) {
        asked += 1;
        const found = await memory.recall(text, { reader: readerOf(who) });
        if (found === undefined) continue;
        recalled += 1;
        console.log(`    ${text} → ${found.hits[0]?.text}`);
      }
    return `${recalled} of ${asked}`;
  };
  console.log(`  small talk that recalls something: ${await count("small talk")}`);
  console.log(`  questions without an answer that recall something: ${await count("nothing")}`);
  console.log(`  facts shown to somebody else: ${leaks}`);
  await memory.close();
}
