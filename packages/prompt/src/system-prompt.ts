import type { SystemPrompt } from "@signalbox/agent-core";
import { fitSections } from "./fit.ts";
import { CACHE_BOUNDARY } from "./neutralize.ts";
import { SECTIONS } from "./sections.ts";
import type { BuiltPrompt, PromptPart, SystemPromptInput } from "./types.ts";

/**
 * Builds the system prompt. Pure: the same input returns the same bytes. What differs from turn to turn (`runtime` and
 * volatile extra sections) follows the cache boundary and does not affect the stable part.
 *
 * @example
 * ```ts
 * const { system, sections } = buildSystemPrompt({
 *   agent: { id: "coder", name: "Coder", systemPrompt: "Answer in one paragraph." },
 *   tools: [{ name: "read", description: "Read a file." }],
 *   workspaceDir: "/srv/coder",
 * });
 * ```
 */
export function buildSystemPrompt(input: SystemPromptInput): BuiltPrompt {
  const { mode = "full" } = input;
  const sections = fitSections(
    SECTIONS.filter(({ modes }) => modes.includes(mode)),
    input,
  );
  const joinPart = (part: PromptPart): string =>
    sections
      .filter((section) => section.part === part)
      .map(({ text }) => text)
      .join("\n\n");
  const stable = joinPart("stable");
  const volatile = joinPart("volatile");
  return { system: volatile === "" ? { stable } : { stable, volatile }, sections };
}

/** Formats a prompt for people, with `CACHE_BOUNDARY` between the stable and the volatile sections. Not for models. */
export function renderSystemPrompt(system: SystemPrompt): string {
  return system.volatile === undefined
    ? system.stable
    : `${system.stable}\n\n${CACHE_BOUNDARY}\n\n${system.volatile}`;
}
