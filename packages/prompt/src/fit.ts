import { estimateTokens } from "@signalbox/agent-core";
import { headed, type RenderedSection, type SectionDefinition, type SectionPriority } from "./section.ts";
import type { PromptPart, PromptSection, SystemPromptInput } from "./types.ts";

/** Of all the room; what is left is the volatile part's, so that what it wants does not move the stable one. */
const STABLE_SHARE = 0.9;
/** What stays longest where there is no room for all. */
const RANKS: readonly SectionPriority[] = ["essential", "high", "normal", "low"];
const NOTE_NAMES: Readonly<Record<PromptPart, string>> = {
  stable: "left-out",
  volatile: "left-out-volatile",
};

/**
 * Renders the sections, each within its budget and all of them within `maxTokens`; those of the lowest priority give
 * way first, and a line says what is missing.
 */
export function fittingSections(
  definitions: readonly SectionDefinition[],
  input: SystemPromptInput,
): readonly PromptSection[] {
  const { maxTokens = Number.POSITIVE_INFINITY } = input;
  const stable = fitPart(definitions, "stable", input, maxTokens * STABLE_SHARE);
  const left = maxTokens - tokensOf([...stable.sections, ...stable.note]);
  const volatile = fitPart(definitions, "volatile", input, left);
  return [...stable.sections, ...stable.note, ...volatile.note, ...volatile.sections];
}

/** The note on what is missing takes room as well, for which more may have to give way. */
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
      sections: definition.render(input).map((each) => measured(each, part)),
    }));
  const all = rendered.flatMap(({ sections }) => sections);
  let roomForNote = 0;
  for (;;) {
    const fitting = fittingOf(rendered, maxTokens - roomForNote);
    const leftOut = all.filter((each) => !fitting.has(each));
    const note = noteOf(leftOut, part);
    if (tokensOf(note) <= roomForNote) return { sections: all.filter((each) => fitting.has(each)), note };
    roomForNote = tokensOf(note);
  }
}

/** What a definition came to. */
interface Rendered {
  readonly definition: SectionDefinition;
  readonly sections: readonly PromptSection[];
}

function fittingOf(rendered: readonly Rendered[], maxTokens: number): ReadonlySet<PromptSection> {
  const fitting = new Set<PromptSection>();
  let left = maxTokens;
  for (const rank of RANKS)
    for (const { definition, sections } of rendered) {
      if (definition.priority !== rank) continue;
      let chars = definition.budget ?? Number.POSITIVE_INFINITY;
      for (const section of sections) {
        const fits = section.chars <= chars && section.tokens <= left;
        if (!fits && rank !== "essential") continue;
        fitting.add(section);
        chars -= section.chars;
        left -= section.tokens;
      }
    }
  return fitting;
}

/** A model that does not know what is missing would take it for nothing. */
function noteOf(leftOut: readonly PromptSection[], part: PromptPart): readonly PromptSection[] {
  if (leftOut.length === 0) return [];
  const titles = leftOut.map(({ title }) => title).join(", ");
  const words = `There was no room here for: ${titles}. Files you can still \`read\`.`;
  return headed(NOTE_NAMES[part], "Left out", [words]).map((each) => measured(each, part));
}

function measured({ name, title, text }: RenderedSection, part: PromptPart): PromptSection {
  return { name, title, text, chars: text.length, tokens: estimateTokens(text), part };
}

function tokensOf(sections: readonly PromptSection[]): number {
  return sections.reduce((sum, { tokens }) => sum + tokens, 0);
}
