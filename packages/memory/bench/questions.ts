import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Texts, and questions with those that answer them, by their places. */
export interface QuestionSet {
  readonly name: string;
  readonly texts: readonly BenchText[];
  readonly questions: readonly { readonly text: string; readonly answers: readonly number[] }[];
}

export interface BenchText {
  readonly text: string;
  readonly author?: string;
  readonly at?: string;
}

interface Cmrc {
  readonly data: readonly {
    readonly paragraphs: readonly {
      readonly context: string;
      readonly qas: readonly {
        readonly question: string;
        readonly answers: readonly { readonly text: string }[];
      }[];
    }[];
  }[];
}

const CMRC = fileURLToPath(new URL("../../../../shared/retrieval/cmrc2018_dev.json", import.meta.url));

/** Returns true if CMRC 2018 is beside the repository, which does not contain it. */
export function hasChineseQuestions(): boolean {
  return existsSync(CMRC);
}

/** CMRC 2018, the part for development: 848 passages of Chinese Wikipedia. It lies beside the repository. */
function cmrc(): Cmrc["data"][number]["paragraphs"] {
  if (!existsSync(CMRC)) throw new Error(`The Chinese questions are missing: ${CMRC}`);
  const file: Cmrc = JSON.parse(readFileSync(CMRC, "utf8"));
  return file.data.flatMap(({ paragraphs }) => paragraphs);
}

export function chineseQuestions(): QuestionSet {
  const paragraphs = cmrc();
  return {
    name: "Chinese questions",
    texts: paragraphs.map(({ context }) => ({ text: context })),
    questions: paragraphs.flatMap(({ qas }, place) =>
      qas.map(({ question }) => ({ text: question, answers: [place] })),
    ),
  };
}

/** Answers that are one word of two characters; any passage that has the word answers it. */
export function twoCharacterWords(): QuestionSet {
  const paragraphs = cmrc();
  const answers = paragraphs.flatMap(({ qas }) => qas.flatMap((qa) => qa.answers.map(({ text }) => text)));
  const words = [...new Set(answers)].filter((answer) => /^\p{Script=Han}{2}$/u.test(answer));
  return {
    name: "Chinese words of two characters",
    texts: paragraphs.map(({ context }) => ({ text: context })),
    questions: words.map((word) => ({
      text: word,
      answers: paragraphs.flatMap(({ context }, place) => (context.includes(word) ? [place] : [])),
    })),
  };
}

/** A conversation of our own, whose questions mostly use other words than the turns that answer them. */
export function englishQuestions(): QuestionSet {
  const texts: BenchText[] = [];
  const questions: { text: string; answers: number[] }[] = [];
  let at = "";
  for (const line of readFileSync(new URL("dialogue.txt", import.meta.url), "utf8").split("\n")) {
    const [, date] = /^== (.+)$/.exec(line) ?? [];
    const [, author, text] = /^\d+ (\w+): (.+)$/.exec(line) ?? [];
    const [, question, answers] = /^\? (.+) => (.+)$/.exec(line) ?? [];
    if (date !== undefined) at = date;
    if (author !== undefined && text !== undefined) texts.push({ author, text, at });
    if (question !== undefined && answers !== undefined) {
      questions.push({ text: question, answers: answers.split(" ").map((number) => Number(number) - 1) });
    }
  }
  return { name: "English conversation", texts, questions };
}

/** Short texts made of sentences of the passages, as many as are wanted, always the same. */
export function manyTexts(count: number): string[] {
  const sentences = cmrc().flatMap(({ context }) =>
    context.split(/(?<=[。！？；])/).filter(({ length }) => length > 6),
  );
  let seed = 1;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return sentences[seed % sentences.length] ?? "";
  };
  return Array.from({ length: count }, () => {
    let text = next();
    while (text.length < 60) text += next();
    return text.slice(0, 160);
  });
}
