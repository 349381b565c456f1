import type { PromptMode, PromptPart, SystemPromptInput } from "./types.ts";

/** Which sections stay where there is no room for all. An essential one always does. */
export type SectionPriority = "essential" | "high" | "normal" | "low";

/** One or several sections of the prompt, as data: where they stand, when, what they are worth, and what they say. */
export interface SectionDefinition {
  /** The name of the section, or what those of several have in common. */
  readonly id: string;
  readonly part: PromptPart;
  readonly modes: readonly PromptMode[];
  readonly priority: SectionPriority;
  /** UTF-16 units of all that it renders; what is beyond is left out. Absent: none but the prompt's own. */
  readonly budget?: number;
  render(input: SystemPromptInput): readonly RenderedSection[];
}

/** A section before it is measured. */
export interface RenderedSection {
  readonly name: string;
  readonly title: string;
  /** Heading included. */
  readonly text: string;
}

/** A section under a heading of its own. */
export function headed(name: string, title: string, lines: readonly string[]): RenderedSection[] {
  return [{ name, title, text: [`## ${title}`, ...lines].join("\n") }];
}
