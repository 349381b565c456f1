import { estimateTokens, type SystemPrompt } from "@signalbox/agent-core";
import { CACHE_BOUNDARY, neutralise, oneLine } from "./neutralise.ts";
import {
  DIRECTIVES,
  type Draft,
  EXECUTION,
  identity,
  messaging,
  runtimeLine,
  SAFETY,
  SILENCE,
  skills,
  tooling,
  workspace,
} from "./sections.ts";
import type {
  BuiltPrompt,
  ExtraSection,
  PromptPart,
  PromptSection,
  SystemPromptInput,
  WorkspaceFile,
} from "./types.ts";
import { fileDrafts } from "./workspace-section.ts";

/** What a subagent gets to see of the workspace files. */
const MINIMAL_FILES = new Set(["AGENTS.md", "TOOLS.md"]);

/**
 * Builds the system prompt. Pure: the same input gives the same bytes. What differs from turn to turn (`runtime`,
 * volatile extra sections) stands behind the cache boundary and leaves the stable part as it is.
 */
export function buildSystemPrompt(input: SystemPromptInput): BuiltPrompt {
  const sections = [
    ...measured("stable", stableDrafts(input)),
    ...measured("volatile", volatileDrafts(input)),
  ];
  const stable = join(sections, "stable");
  const volatile = join(sections, "volatile");
  return { system: volatile === "" ? { stable } : { stable, volatile }, sections };
}

/** The prompt as people read it, with `CACHE_BOUNDARY` on a line between its parts. Not for a model. */
export function renderSystemPrompt(system: SystemPrompt): string {
  return system.volatile === undefined
    ? system.stable
    : `${system.stable}\n\n${CACHE_BOUNDARY}\n\n${system.volatile}`;
}

function stableDrafts(input: SystemPromptInput): Draft[] {
  const mode = input.mode ?? "full";
  const tools = input.tools ?? [];
  const base = [identity(input)];
  if (mode === "none") return base;
  base.push(tooling(tools), EXECUTION, SAFETY);
  if (mode === "full") base.push(skills(input.skills, tools));
  base.push(workspace(input.workspaceDir));
  base.push(...fileDrafts(filesFor(mode, input.workspaceFiles ?? []), input.workspaceFileLimits));
  if (mode === "full") base.push(DIRECTIVES, SILENCE);
  return [...base, ...extras(input.extra, "stable")];
}

function volatileDrafts(input: SystemPromptInput): Draft[] {
  const mode = input.mode ?? "full";
  if (mode === "none") return [];
  const drafts: Draft[] = [];
  if (mode === "full") drafts.push(messaging(input.tools ?? [], input.runtime));
  return [...drafts, ...extras(input.extra, "volatile"), runtimeLine(input.agent.id, input.runtime)];
}

function filesFor(mode: "full" | "minimal", files: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  return mode === "full" ? files : files.filter((file) => MINIMAL_FILES.has(file.name));
}

function extras(extra: readonly ExtraSection[] | undefined, part: PromptPart): Draft[] {
  return (extra ?? [])
    .filter((section) => section.part === part)
    .map(({ name, title, text }) => ({
      name,
      title: oneLine(title, 120),
      heading: true,
      text: neutralise(text),
    }));
}

function measured(part: PromptPart, drafts: readonly Draft[]): PromptSection[] {
  return drafts.flatMap(({ name, title, heading, text }) => {
    if (text === undefined || text === "") return [];
    const full = heading ? `## ${title}\n${text}` : text;
    return [{ name, title, text: full, chars: full.length, tokens: estimateTokens(full), part }];
  });
}

function join(sections: readonly PromptSection[], part: PromptPart): string {
  return sections
    .filter((section) => section.part === part)
    .map((section) => section.text)
    .join("\n\n");
}
