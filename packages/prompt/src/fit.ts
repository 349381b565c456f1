import { estimateTokens } from "@signalbox/agent-core";
import { headed, type RenderedSection, type SectionDefinition, type SectionPriority } from "./section.ts";
import type { PromptSection, SystemPromptInput } from "./types.ts";

/** Of all the room; what is left is the volatile part's, so that what it wants does not move the stable one. */
const STABLE_SHARE = 0.9;
/** What stays longest where there is no room for all. */
const RANKS: readonly SectionPriority[] = ["essential", "high", "normal", "low"];

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
  const used = stable.sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const volatile = fitPart(definitions, "volatile", input, maxTokens - used);
  return [
    ...stable.sections,
    ...noteOf(stable.leftOut, "left-out", "stable"),
    ...noteOf(volatile.leftOut, "left-out-volatile", "volatile"),
    ...volatile.sections,
  ];
}

function fitPart(
  definitions: readonly SectionDefinition[],
  part: PromptSection["part"],
  input: SystemPromptInput,
  maxTokens: number,
): { readonly sections: readonly PromptSection[]; readonly leftOut: readonly PromptSection[] } {
  const rendered = definitions
    .filter((definition) => definition.part === part)
    .map((definition) => ({
      definition,
      sections: definition.render(input).map((each) => measured(each, part)),
    }));
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
  const all = rendered.flatMap(({ sections }) => sections);
  return {
    sections: all.filter((each) => fitting.has(each)),
    leftOut: all.filter((each) => !fitting.has(each)),
  };
}

/** A model that does not know what is missing would take it for nothing. */
function noteOf(
  leftOut: readonly PromptSection[],
  name: string,
  part: PromptSection["part"],
): readonly PromptSection[] {
  if (leftOut.length === 0) return [];
  const titles = leftOut.map(({ title }) => title).join(", ");
  const words = `There was no room here for: ${titles}. Files you can still \`read\`.`;
  return headed(name, "Left out", [words]).map((each) => measured(each, part));
}

function measured({ name, title, text }: RenderedSection, part: PromptSection["part"]): PromptSection {
  return { name, title, text, chars: text.length, tokens: estimateTokens(text), part };
}
