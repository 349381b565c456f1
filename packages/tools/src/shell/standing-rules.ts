import type { ShellScript } from "./parse.ts";

/**
 * A pattern of one command: a word matches itself, `*` any one word, `**` at the end any further words. So `["git",
 * "log", "**"]` covers `git log --oneline`, but not `git log > file`.
 */
export type StandingRule = readonly string[];

/** Reads a rule as it stands in a configuration: words with spaces between. */
export function readRule(text: string): StandingRule {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** Whether each command of a script is covered by a rule. A script that is more than plain commands never is. */
export function isCovered({ commands }: ShellScript, rules: readonly StandingRule[]): boolean {
  if (commands === undefined || commands.length === 0) return false;
  return commands.every((words) => rules.some((rule) => covers(rule, words)));
}

/** The rules under which exactly this script would run unasked; `undefined` where none can say it. */
export function rulesFor({ commands }: ShellScript): readonly StandingRule[] | undefined {
  // A word that reads as a wildcard would cover more than was seen.
  return commands?.some((words) => words.some((word) => word === "*" || word === "**")) === true
    ? undefined
    : commands;
}

function covers(rule: StandingRule, words: readonly string[]): boolean {
  const open = rule.at(-1) === "**";
  const fixed = open ? rule.slice(0, -1) : rule;
  if (fixed.length === 0 || words.length < fixed.length || (!open && words.length > fixed.length))
    return false;
  return fixed.every((part, index) => part === "*" || part === words[index]);
}
