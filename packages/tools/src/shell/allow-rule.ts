import type { ShellScript } from "./parse.ts";

/**
 * A pattern for one command. A word matches itself, `*` matches any single word, and `**` at the end matches any number
 * of further words. For example, `["git", "log", "**"]` covers `git log --oneline`, but not `git log > file`.
 */
export type AllowRule = readonly string[];

/** Parses a rule from the configuration. Spaces separate the words. */
export function parseAllowRule(text: string): AllowRule {
  return text.split(/\s+/).filter((word) => word !== "");
}

/**
 * Returns true if the rules cover every command in a script. Only scripts that consist of plain commands can be
 * covered.
 */
export function isCovered({ commands }: ShellScript, rules: readonly AllowRule[]): boolean {
  if (commands === undefined || commands.length === 0) return false;
  return commands.every((words) => rules.some((rule) => covers(rule, words)));
}

/** Returns the rules that cover exactly this script, or undefined if no rules can express it. */
export function getAllowRules({ commands }: ShellScript): readonly AllowRule[] | undefined {
  // A word that looks like a wildcard would cover more than this script.
  return commands?.some((words) => words.some((word) => word === "*" || word === "**")) === true
    ? undefined
    : commands;
}

function covers(rule: AllowRule, words: readonly string[]): boolean {
  const isOpen = rule.at(-1) === "**";
  const fixed = isOpen ? rule.slice(0, -1) : rule;
  if (fixed.length === 0 || words.length < fixed.length || (!isOpen && words.length > fixed.length))
    return false;
  return fixed.every((part, index) => part === "*" || part === words[index]);
}
