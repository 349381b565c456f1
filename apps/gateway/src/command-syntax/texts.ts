import type { Phrases } from "@signalbox/phrases";
import { THINKING_LEVELS } from "./read.ts";
import { type DescribedSkill, describeSkill } from "./table.ts";

/** @param typed name of a skill that does not exist. Empty if no name was typed. */
export function skillsText(phrases: Phrases, skills: readonly DescribedSkill[], typed: string): string {
  const head = typed === "" ? phrases.skillsHead : phrases.noSkill(typed.split(/\s/, 1)[0] ?? "");
  const lines = skills.map((skill) => `- ${skill.name}: ${describeSkill(phrases, skill)}`);
  return lines.length === 0 ? phrases.noSkills : [head, ...lines].join("\n");
}

/** @param typed name of a model that cannot be used. Empty if no name was typed. */
export function modelText(
  phrases: Phrases,
  model: string,
  offered: readonly string[],
  typed: string,
): string {
  const head = typed === "" ? phrases.model(model) : phrases.noModel(typed);
  const lines = offered.map((one) => `- ${one}`);
  return [head, phrases.thereAre, ...lines, phrases.modelDefault].join("\n");
}

/** @param typed a thinking level that does not exist. Empty if no level was typed. */
export function thinkText(phrases: Phrases, level: string, typed: string): string {
  const head = typed === "" ? phrases.thinking(level) : phrases.noThinking(typed);
  return `${head} ${phrases.thinkingLevels(THINKING_LEVELS)}`;
}
