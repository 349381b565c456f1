// Checks the English of code comments. Each habit below is described in CONTRIBUTING.md, "Words".
//
//   node scripts/prose.mjs                      fails if a package exceeds the limit
//   node scripts/prose.mjs --list 50 [folder]   also prints flagged sentences, worst first
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./workspace.mjs";

/** Maximum percentage of flagged comments in a package. */
export const LIMIT = 3;

const SOURCES = ["{packages,apps}/*/src/**/*.{ts,tsx}", "scripts/**/*.{mjs,ts}"];
const EXCLUDED = /(?:^|\/)(?:node_modules|dist|testkit)\/|\.test\./;

/**
 * Habits that make a sentence hard to read, with a suggestion for each. They find candidates: an author decides.
 *
 * @type {readonly { name: string, pattern: RegExp, advice: string }[]}
 */
export const HABITS = [
  {
    name: "noun clause",
    pattern:
      /^(?:what(?:ever)?|where(?:ver)?|who(?:ever|se)?|which|that which|whether|how|those (?:who|which|that|of))\b(?!.*\?$)/i,
    advice: "start with the noun or the verb: `Timeout of a request`, not `How long a request may take`",
  },
  {
    name: "where for if",
    pattern: /\b(?:undefined|null|nothing|empty|none|only|not|absent|default|but|also|true|false) where\b/i,
    advice: "use `if` for conditions",
  },
  {
    name: "is none",
    pattern: /\b(?:is|are|was|were) none\b/i,
    advice: "say `there is no …`, or name the property",
  },
  {
    name: "verb of speech",
    pattern:
      /\b(?:is|are|was|were|been|be|has|have|it|that|which|they|we|server|platform|vendor|gateway|process|model) (?:told|asked|said)\b|\b(?:tells|says) (?:so|whether|that it|what|where|who)\b/i,
    advice: "programs return, send, report, request and receive",
  },
  {
    name: "gives",
    pattern: /^(?:gives|hands|tells|says|takes it|has the)\b/i,
    advice: "say `Returns …`, `Passes …` or `Reports …`",
  },
  {
    name: "archaic",
    pattern:
      /\b(?:anew|no more(?! than)|of (?:its|their|one's) own|all the same|by then|so far as|goes on|at work|beside (?:it|them|that|this)|(?:is|are|has|have) to be)\b/i,
    advice: "use plain modern English",
  },
  {
    name: "somebody",
    pattern: /\b(?:somebody|nobody|anybody)\b/i,
    advice: "name the actor: user, client, caller, process",
  },
];

/**
 * Finds the comments of a source file. Consecutive `//` lines are one comment.
 *
 * @param {string} source
 * @returns {{ line: number, text: string }[]}
 */
export function findComments(source) {
  const lines = source.split("\n");
  const comments = [];
  for (let index = 0; index < lines.length; index++) {
    const line = index + 1;
    if (/^\s*\/\//.test(lines[index])) {
      const parts = [];
      for (; /^\s*\/\//.test(lines[index] ?? ""); index++) parts.push(lines[index].replace(/^\s*\/\/ ?/, ""));
      index--;
      comments.push({ line, text: joinLines(parts) });
    } else if (/^\s*\/\*/.test(lines[index])) {
      const parts = [];
      for (; index < lines.length; index++) {
        parts.push(lines[index].replace(/^\s*(?:\/\*+|\*(?!\/))? ?/, "").replace(/\s*\*\/.*$/, ""));
        if (lines[index].includes("*/")) break;
      }
      comments.push({ line, text: joinLines(parts) });
    }
  }
  return comments.filter(
    ({ text }) => /[a-z]{3}/.test(text) && !/^(?:biome-ignore|-(?:expect-error|ignore))/.test(text),
  );
}

/** Joins the lines of a comment without code examples. Tags such as `@param` start a new sentence. */
function joinLines(lines) {
  return lines
    .join("\n")
    .replace(/```[\s\S]*?(?:```|$)/g, "")
    .replace(/\n\s*\n/g, ". ")
    .replace(/\s*@(?:param|returns|throws|see|default)\b(?: (?:\{[^}]*\} )?[\w.]+ )?/g, ". ")
    .replace(/@\w+/g, "")
    .replace(/\s+/g, " ")
    .replace(/^[\s.]+/, "")
    .trim();
}

/** @param {string} text @returns {string[]} */
function splitSentences(text) {
  return text.split(/(?<=[.!?])\s+(?=["'`({\p{Lu}])/u).filter((sentence) => sentence !== "");
}

/**
 * Checks a comment.
 *
 * @param {string} text
 * @returns {{ sentence: string, habits: typeof HABITS }[]} the flagged sentences
 */
export function checkComment(text) {
  return splitSentences(text)
    .map((sentence) => ({ sentence, habits: HABITS.filter(({ pattern }) => pattern.test(sentence)) }))
    .filter(({ habits }) => habits.length > 0);
}

/** The package of a file, or `scripts`. */
function getPackage(file) {
  return file.startsWith("scripts/") ? "scripts" : file.split("/", 2).join("/");
}

/** @returns {{ file: string, line: number, text: string, flagged: ReturnType<typeof checkComment> }[]} */
function readComments() {
  const files = globSync(SOURCES, { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  return files
    .filter((file) => !EXCLUDED.test(file))
    .toSorted()
    .flatMap((file) =>
      findComments(readFileSync(join(root, file), "utf8")).map((comment) => ({
        file,
        ...comment,
        flagged: checkComment(comment.text),
      })),
    );
}

/**
 * Counts the comments of each package.
 *
 * @param {readonly { file: string, flagged: readonly unknown[] }[]} comments
 * @returns {Record<string, { comments: number, flagged: number, percent: number }>}
 */
export function measure(comments) {
  const figures = {};
  for (const { file, flagged } of comments) {
    for (const name of [getPackage(file), "overall"]) {
      figures[name] ??= { comments: 0, flagged: 0, percent: 0 };
      figures[name].comments += 1;
      if (flagged.length > 0) figures[name].flagged += 1;
    }
  }
  for (const figure of Object.values(figures))
    figure.percent = Math.round((1000 * figure.flagged) / figure.comments) / 10;
  return figures;
}

/**
 * Compares figures with the limit. A package may always have one flagged comment.
 *
 * @param {ReturnType<typeof measure>} figures
 * @returns {string[]} names of the packages that exceed the limit
 */
export function findExcess(figures) {
  return Object.entries(figures)
    .filter(([, { flagged, percent }]) => flagged > 1 && percent > LIMIT)
    .map(([name]) => name);
}

function printSentences(comments, count) {
  const sentences = comments.flatMap(({ file, line, flagged }) =>
    flagged.map((each) => ({ file, line, ...each })),
  );
  const worst = sentences.toSorted(
    (a, b) => b.habits.length - a.habits.length || b.sentence.length - a.sentence.length,
  );
  for (const { file, line, sentence, habits } of worst.slice(0, count)) {
    console.error(`${file}:${line}: ${sentence}`);
    for (const { name, advice } of habits) console.error(`    ${name}: ${advice}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const args = process.argv.slice(2);
  const listAt = args.indexOf("--list");
  const folder = listAt < 0 ? undefined : args[listAt + 2];
  const comments = readComments();
  const figures = measure(comments);
  if (listAt >= 0)
    printSentences(
      comments.filter(({ file }) => folder === undefined || file.startsWith(folder)),
      Number(args[listAt + 1]),
    );
  const excess = findExcess(figures);
  for (const name of excess) {
    const { comments: total, flagged, percent } = figures[name];
    console.error(
      `${name}: ${flagged} of ${total} comments (${percent} %) have a habit of unnatural prose; the limit is ${LIMIT} %. The worst are:`,
    );
    printSentences(
      comments.filter(({ file }) => name === "overall" || getPackage(file) === name),
      10,
    );
  }
  if (excess.length > 0) process.exitCode = 1;
  else console.log(`${figures.overall.comments} comments, ${figures.overall.percent} % flagged`);
}
