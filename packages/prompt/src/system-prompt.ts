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

/** What each prompt was built from. */
const inputs = new WeakMap<BuiltPrompt, SystemPromptInput>();

/**
 * Builds the system prompt. Pure: the same input gives the same bytes. What differs from turn to turn (`runtime`,
 * volatile extra sections) stands behind the cache boundary and leaves the stable part as it is.
 *
 * @param earlier a prompt built before: where nothing its stable part was made of has changed, that part is taken over
 *   instead of being written again. The result is the same with and without.
 */
export function buildSystemPrompt(input: SystemPromptInput, earlier?: BuiltPrompt): BuiltPrompt {
  const before = earlier && inputs.get(earlier);
  const stable =
    earlier && before && sameStable(before, input)
      ? { text: earlier.system.stable, sections: earlier.sections.filter((one) => one.part === "stable") }
      : joined(measured("stable", stableDrafts(input)));
  const volatile = joined(measured("volatile", volatileDrafts(input)));
  const built: BuiltPrompt = {
    system: volatile.text === "" ? { stable: stable.text } : { stable: stable.text, volatile: volatile.text },
    sections: [...stable.sections, ...volatile.sections],
  };
  inputs.set(built, input);
  return built;
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

function joined(sections: readonly PromptSection[]): {
  readonly text: string;
  readonly sections: readonly PromptSection[];
} {
  return { text: sections.map((section) => section.text).join("\n\n"), sections };
}

/** Whether both inputs give the same stable part, as far as can be told without writing it. */
function sameStable(a: SystemPromptInput, b: SystemPromptInput): boolean {
  const extra = (input: SystemPromptInput) => input.extra?.filter((section) => section.part === "stable");
  return (
    (a.mode ?? "full") === (b.mode ?? "full") &&
    sameFields(a.agent, b.agent) &&
    a.skills === b.skills &&
    a.workspaceDir === b.workspaceDir &&
    sameFields(a.workspaceFileLimits ?? {}, b.workspaceFileLimits ?? {}) &&
    sameItems(a.tools, b.tools, (x, y) => x.name === y.name && x.description === y.description) &&
    sameItems(a.workspaceFiles, b.workspaceFiles, sameFields) &&
    sameItems(extra(a), extra(b), sameFields)
  );
}

/** Compares objects whose fields are plain values. */
function sameFields(a: object, b: object): boolean {
  if (a === b) return true;
  const entries = Object.entries(a);
  const others = new Map<string, unknown>(Object.entries(b));
  return entries.length === others.size && entries.every(([key, value]) => others.get(key) === value);
}

function sameItems<T>(
  a: readonly T[] | undefined,
  b: readonly T[] | undefined,
  same: (x: T, y: T) => boolean,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length)
    return (a?.length ?? 0) + (b?.length ?? 0) === 0;
  return a.every((item, index) => {
    const other = b[index];
    return other !== undefined && same(item, other);
  });
}
