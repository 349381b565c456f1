import type { PromptPart, PromptSection } from "./types.ts";

/** One section that differs between two prompts. */
export interface SectionDrift {
  readonly name: string;
  readonly title: string;
  readonly part: PromptPart;
  /** `moved`: the same bytes at another place among the sections both prompts have. */
  readonly change: "added" | "removed" | "changed" | "moved";
  /** UTF-16 units; 0 where the section is absent. */
  readonly charsBefore: number;
  readonly charsAfter: number;
}

/**
 * Names the sections whose bytes changed between two prompts, in the order of the newer one, removed ones last. A
 * drift with `part: "stable"` costs the vendor's prompt cache.
 */
export function explainDrift(
  previous: readonly PromptSection[],
  next: readonly PromptSection[],
): readonly SectionDrift[] {
  const before = new Map(previous.map((section) => [key(section), section]));
  const after = new Map(next.map((section) => [key(section), section]));
  const order = previous.filter((section) => after.has(key(section))).map(key);
  const drifts: SectionDrift[] = [];
  let common = 0;
  for (const section of next) {
    const old = before.get(key(section));
    if (old === undefined) {
      drifts.push(drift(section, "added", 0, section.chars));
      continue;
    }
    const inPlace = order[common] === key(section);
    common += 1;
    if (old.text !== section.text) drifts.push(drift(section, "changed", old.chars, section.chars));
    else if (!inPlace) drifts.push(drift(section, "moved", old.chars, section.chars));
  }
  for (const section of previous) {
    if (!after.has(key(section))) drifts.push(drift(section, "removed", section.chars, 0));
  }
  return drifts;
}

function key(section: PromptSection): string {
  return `${section.part}/${section.name}`;
}

function drift(
  section: PromptSection,
  change: SectionDrift["change"],
  charsBefore: number,
  charsAfter: number,
): SectionDrift {
  return { name: section.name, title: section.title, part: section.part, change, charsBefore, charsAfter };
}
