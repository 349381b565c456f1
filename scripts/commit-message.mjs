// Checks commit messages.
//
//   node scripts/commit-message.mjs                 commits since the last released tag, or the last commit;
//                                                   on CI always the last commit
//   node scripts/commit-message.mjs --base <ref>    commits after <ref>
//   node scripts/commit-message.mjs <file>          the message in a file, as a commit-msg hook
//
// As a hook: echo 'node scripts/commit-message.mjs "$1"' > .git/hooks/commit-msg && chmod +x .git/hooks/commit-msg
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./workspace.mjs";

const MAX_SUBJECT = 72;

/** `area: ` or `area, area: `, such as `channel-feishu: ` or `server, client: `. */
const AREA = /^[a-z][\w./-]*(?:, [a-z][\w./-]*)*: /;

/** First words that cannot start an imperative sentence. */
const NOT_A_VERB = new Set(
  "a an the this that these those it its there one each every all some any no none nothing what which where when while who whoever whose why how whether if of in on at by for from with without after before more fewer less new is are was were has have".split(
    " ",
  ),
);

/** Imperative verbs that look like a participle, a gerund or a third person. */
const VERBS = new Set(
  "embed feed need seed shed speed bed breed proceed exceed succeed bring string ring ping wing sing fling focus alias bias canvas".split(
    " ",
  ),
);

/**
 * Checks the subject of a commit message.
 *
 * @param {string} message
 * @returns {string[]} what to change
 */
export function checkMessage(message) {
  const [subject = "", second] = message.split("\n");
  const problems = [];
  if (subject.trim() === "") return ["write a subject"];
  if (subject.length > MAX_SUBJECT)
    problems.push(`shorten the subject to ${MAX_SUBJECT} characters (it has ${subject.length})`);
  if (subject.includes(";")) problems.push("split the commit: the subject has a semicolon");
  if (subject.endsWith(".")) problems.push("remove the period at the end of the subject");
  if (second !== undefined && second.trim() !== "") problems.push("leave the second line empty");
  const sentence = subject.replace(AREA, "");
  const [first = ""] = sentence.split(/[\s,:]/);
  if (!isImperative(first.toLowerCase()))
    problems.push(`start with a verb in the imperative, such as "add" or "fix", not with "${first}"`);
  return problems;
}

/** @param {string} word */
function isImperative(word) {
  if (VERBS.has(word)) return true;
  return !NOT_A_VERB.has(word) && !/(?:ed|ing|[^s]s)$/.test(word) && /^[a-z]/.test(word);
}

/** @param {readonly string[]} args */
function git(...args) {
  return execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** Returns the range of commits to check. */
function getRange(base) {
  if (base !== undefined) return [`${base}..HEAD`];
  if (process.env.CI === undefined) {
    try {
      return [`${git("describe", "--tags", "--abbrev=0", "--match", "v*")}..HEAD`];
    } catch {
      // There is no release yet.
    }
  }
  return ["-1", "HEAD"];
}

/** @returns {{ name: string, message: string }[]} */
function readMessages(args) {
  const baseAt = args.indexOf("--base");
  const [file] = baseAt < 0 ? args : [];
  if (file !== undefined) {
    const lines = readFileSync(file, "utf8").split("\n");
    return [
      {
        name: file,
        message: lines
          .filter((line) => !line.startsWith("#"))
          .join("\n")
          .trim(),
      },
    ];
  }
  // The repository may have been downloaded without its history.
  if (!existsSync(join(root, ".git"))) return [];
  const log = git(
    "log",
    "--no-merges",
    "--format=%h%x00%B%x01",
    ...getRange(baseAt < 0 ? undefined : args[baseAt + 1]),
  );
  return log
    .split("\u0001")
    .map((entry) => entry.trim().split("\u0000"))
    .filter(([name]) => name !== "")
    .map(([name, message = ""]) => ({ name, message: message.trim() }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { name, message } of readMessages(process.argv.slice(2))) {
    for (const problem of checkMessage(message)) {
      console.error(`${name} "${message.split("\n", 1)[0]}": ${problem}`);
      process.exitCode = 1;
    }
  }
}
