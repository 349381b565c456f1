import type { PromptMode, PromptPart, SystemPromptInput } from "./types.ts";

/** One or several sections of the prompt, as data: where they stand, when, and what they say. */
export interface SectionDefinition {
  readonly part: PromptPart;
  readonly modes: readonly PromptMode[];
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
