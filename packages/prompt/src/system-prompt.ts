import type { SystemPrompt } from "@signalbox/agent-core";
import { fittingSections } from "./fit.ts";
import { CACHE_BOUNDARY } from "./neutralise.ts";
import { SECTIONS } from "./sections.ts";
import type { BuiltPrompt, PromptPart, SystemPromptInput } from "./types.ts";

/**
 * Builds the system prompt. Pure: the same input gives the same bytes. What differs from turn to turn (`runtime`,
 * volatile extra sections) stands behind the cache boundary and leaves the stable part as it is.
 */
export function buildSystemPrompt(input: SystemPromptInput): BuiltPrompt {
  const { mode = "full" } = input;
  const sections = fittingSections(
    SECTIONS.filter(({ modes }) => modes.includes(mode)),
    input,
  );
  const textOf = (part: PromptPart): string =>
    sections
      .filter((section) => section.part === part)
      .map(({ text }) => text)
      .join("\n\n");
  const stable = textOf("stable");
  const volatile = textOf("volatile");
  return { system: volatile === "" ? { stable } : { stable, volatile }, sections };
}

/** The prompt as people read it, with `CACHE_BOUNDARY` on a line between its parts. Not for a model. */
export function renderSystemPrompt(system: SystemPrompt): string {
  return system.volatile === undefined
    ? system.stable
    : `${system.stable}\n\n${CACHE_BOUNDARY}\n\n${system.volatile}`;
}
