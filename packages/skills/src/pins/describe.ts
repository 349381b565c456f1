import type { PendingSkill } from "./approvals.ts";

/** Hexadecimal digits of the digest that a person types to say which state of a skill is meant. */
const SHORT = 12;

export function shortDigest({ digest }: Pick<PendingSkill, "digest">): string {
  return digest.slice(0, SHORT);
}

/**
 * All that an approval is about, line by line.
 *
 * @param visible escapes what could not be seen or would mislead, in a text of many lines and in one line
 */
export function describePending(
  { skill, change, diff }: PendingSkill,
  visible: Readonly<Record<"text" | "line", (text: string) => string>>,
): string[] {
  const names = (what: string, paths: readonly string[]) =>
    paths.length === 0 ? [] : [`${what}: ${paths.map(visible.line).join(", ")}`];
  return [
    `The skill ${skill.id} (${skill.source}, ${visible.line(skill.dir)}) needs an owner's approval.`,
    ...names("Added", change.added),
    ...names("Removed", change.removed),
    ...names("Changed", change.changed),
    ...(diff === "" ? [] : [visible.text(diff).trimEnd()]),
  ];
}
