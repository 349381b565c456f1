import type { SystemPrompt } from "@signalbox/agent-core";

/**
 * How much the system prompt says. `full`: everything (default). `minimal`: for subagents; identity, tooling,
 * execution, safety, workspace, `AGENTS.md` and `TOOLS.md`, runtime. `none`: the identity alone.
 */
export type PromptMode = "full" | "minimal" | "none";

/** Where a section stands: before the cache boundary (`stable`) or behind it (`volatile`). */
export type PromptPart = "stable" | "volatile";

/** One section of a built prompt. The parts are their sections' texts, joined by an empty line. */
export interface PromptSection {
  /** Stable and unique, for instance `tooling` or `workspace-file:AGENTS.md`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** As the model sees it, heading included. */
  readonly text: string;
  /** UTF-16 units of `text`. */
  readonly chars: number;
  /** Estimated by `estimateTokens` of `@signalbox/agent-core`. */
  readonly tokens: number;
  readonly part: PromptPart;
}

/** What `buildSystemPrompt` returns. */
export interface BuiltPrompt {
  readonly system: SystemPrompt;
  /** In the order of the prompt. */
  readonly sections: readonly PromptSection[];
}

/** A tool as the prompt lists it; every `Tool` and `ToolSpec` is one. */
export interface PromptTool {
  readonly name: string;
  /** Its first sentence is listed. */
  readonly description: string;
}

/** A workspace file to show, as `loadWorkspaceFiles` reads it. */
export interface WorkspaceFile {
  /** For instance `AGENTS.md`. */
  readonly name: string;
  readonly text: string;
  /** Size on disk in bytes, where `text` is only the start of the file. */
  readonly totalBytes?: number;
}

/** Characters (UTF-16 units) of the workspace files in the prompt. */
export interface WorkspaceFileLimits {
  /** Default 20,000. */
  readonly maxFileChars?: number;
  /** All files together; default 150,000. */
  readonly maxTotalChars?: number;
}

/** A section of the host's own, placed at the end of its part (volatile ones before the runtime line). */
export interface ExtraSection {
  /** Unique among all sections. */
  readonly name: string;
  readonly title: string;
  /** Without the heading. Headings in it are lowered, so that it stays one section. */
  readonly text: string;
  readonly part: PromptPart;
}

/** Facts of the run, told behind the boundary. No clock: the time of a message is in its inbound context. */
export interface PromptRuntime {
  /** The session's key. */
  readonly session?: string;
  readonly channel?: string;
  /** `provider/model`. */
  readonly model?: string;
  readonly thinking?: string;
  /** What the channel can do, for instance `threads`, `reactions`. */
  readonly capabilities?: readonly string[];
  /** Further facts, in the order given. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** What `buildSystemPrompt` works on. */
export interface SystemPromptInput {
  readonly mode?: PromptMode;
  readonly agent: {
    readonly id: string;
    readonly name?: string;
    /** The operator's own instructions; part of the identity section. */
    readonly systemPrompt?: string;
  };
  /** The tools this agent may use, and no others, in the order of the request. */
  readonly tools?: readonly PromptTool[];
  /** Guides that apply to every request, in full. */
  readonly activeSkills?: readonly ActiveSkill[];
  /** The catalogue with its `<available_skills>` block. Shown where the agent has the `read` tool. */
  readonly skills?: string;
  /** Absolute path of the agent's folder. */
  readonly workspaceDir?: string;
  /** Documents about the host that the agent may read. Told where it has the `read` tool. */
  readonly documentation?: Documentation;
  readonly workspaceFiles?: readonly WorkspaceFile[];
  readonly workspaceFileLimits?: WorkspaceFileLimits;
  readonly extra?: readonly ExtraSection[];
  readonly runtime?: PromptRuntime;
  /** What all sections may have together; default: as much as they do. Essential ones stay whatever it is. */
  readonly maxTokens?: number;
}

/** Where the documents of the host are. */
export interface Documentation {
  /** Absolute. */
  readonly dir: string;
  /** Names of files in it. */
  readonly files: readonly string[];
}

/** A guide that applies to every request. */
export interface ActiveSkill {
  readonly name: string;
  /** Where its file is: paths in the text are relative to that folder. */
  readonly location: string;
  readonly text: string;
}
