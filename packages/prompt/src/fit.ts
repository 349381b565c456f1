import { estimateTokens } from "@signalbox/agent-core";
import { headed, type RenderedSection, type SectionDefinition, type SectionPriority } from "./section.ts";
import type { PromptPart, PromptSection, SystemPromptInput } from "./types.ts";

/**
 * Share of the stable sections. The rest is reserved for the volatile sections, so that their size does not affect the
 * stable ones.
 */
const STABLE_SHARE = 0.9;
/** Priorities in descending order. Sections with the last one are omitted first. */
const RANKS: readonly SectionPriority[] = ["essential", "high", "normal", "low"];
const NOTE_NAMES: Readonly<Record<PromptPart, string>> = {
  stable: "omitted",
  volatile: "omitted-volatile",
};

/**
 * Renders the sections, each within its budget and all within `maxTokens`. Sections of the lowest priority are omitted
 * first, and a note lists them.
 */
export function fitSections(
  definitions: readonly SectionDefinition[],
  input: SystemPromptInput,
): readonly PromptSection[] {
  const { maxTokens = Number.POSITIVE_INFINITY } = input;
  const stable = fitPart(definitions, "stable", input, maxTokens * STABLE_SHARE);
  const remaining = maxTokens - countTokens([...stable.sections, ...stable.note]);
  const volatile = fitPart(definitions, "volatile", input, remaining);
  return [...stable.sections, ...stable.note, ...volatile.note, ...volatile.sections];
}

/**
 * Fits the stable or the volatile sections. The note about omitted sections also takes space, so it may require
 * omitting more sections.
 */
function fitPart(
  definitions: readonly SectionDefinition[],
  part: PromptPart,
  input: SystemPromptInput,
  maxTokens: number,
): { readonly sections: readonly PromptSection[]; readonly note: readonly PromptSection[] } {
  const rendered = definitions
    .filter((definition) => definition.part === part)
    .map((definition) => ({
      definition,
      sections: definition.render(input).map((each) => measure(each, part)),
    }));
  const all = rendered.flatMap(({ sections }) => sections);
  let roomForNote = 0;
  for (;;) {
    const fitting = selectFitting(rendered, maxTokens - roomForNote);
    const omitted = all.filter((each) => !fitting.has(each));
    const note = createNote(omitted, part);
    if (countTokens(note) <= roomForNote) return { sections: all.filter((each) => fitting.has(each)), note };
    roomForNote = countTokens(note);
  }
}

/** The sections of a definition. */
interface Rendered {
  readonly definition: SectionDefinition;
  readonly sections: readonly PromptSection[];
}

function selectFitting(rendered: readonly Rendered[], maxTokens: number): ReadonlySet<PromptSection> {
  const fitting = new Set<PromptSection>();
  let remaining = maxTokens;
  for (const rank of RANKS)
    for (const { definition, sections } of rendered) {
      if (definition.priority !== rank) continue;
      let chars = definition.budget ?? Number.POSITIVE_INFINITY;
      for (const section of sections) {
        const fits = section.chars <= chars && section.tokens <= remaining;
        if (!fits && rank !== "essential") continue;
        fitting.add(section);
        chars -= section.chars;
        remaining -= section.tokens;
      }
    }
  return fitting;
}

/** Lists omitted sections, so that the model is aware that something is missing. */
function createNote(omitted: readonly PromptSection[], part: PromptPart): readonly PromptSection[] {
  if (omitted.length === 0) return [];
  const titles = omitted.map(({ title }) => title).join(", ");
  const words = `There was no room here for: ${titles}. Files you can still \`read\`.`;
  return headed(NOTE_NAMES[part], "Omitted", [words]).map((each) => measure(each, part));
}

function measure({ name, title, text }: RenderedSection, part: PromptPart): PromptSection {
  return { name, title, text, chars: text.length, tokens: estimateTokens(text), part };
}

function countTokens(sections: readonly PromptSection[]): number {
  return sections.reduce((sum, { tokens }) => sum + tokens, 0);
}
