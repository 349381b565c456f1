import type { PromptMode, PromptPart, SystemPromptInput } from "./types.ts";

/** Determines which sections are omitted first if there is not enough space. Essential sections are never omitted. */
export type SectionPriority = "essential" | "high" | "normal" | "low";

/** One or several sections of the prompt: position, modes, priority and content. */
export interface SectionDefinition {
  /** Name of the section, or the common name of several sections. */
  readonly id: string;
  readonly part: PromptPart;
  readonly modes: readonly PromptMode[];
  readonly priority: SectionPriority;
  /** Maximum length of all its text, in UTF-16 units. Sections beyond it are omitted. Default: no limit. */
  readonly budget?: number;
  render(input: SystemPromptInput): readonly RenderedSection[];
}

/** A section before its tokens are counted. */
export interface RenderedSection {
  readonly name: string;
  readonly title: string;
  /** Includes the heading. */
  readonly text: string;
}

/** Creates a section with a heading. */
export function headed(name: string, title: string, lines: readonly string[]): RenderedSection[] {
  return [{ name, title, text: [`## ${title}`, ...lines].join("\n") }];
}
