import type { SystemPrompt } from "@signalbox/agent-core";

/**
 * Extent of the system prompt. `full`: everything (default). `minimal`: for sub-agents; identity, tooling,
 * execution, safety, workspace, `AGENTS.md` and `TOOLS.md`, runtime. `none`: only the identity.
 */
export type PromptMode = "full" | "minimal" | "none";

/** Position of a section: before the cache boundary (`stable`) or after it (`volatile`). */
export type PromptPart = "stable" | "volatile";

/** A section of a built prompt. The texts of the sections are joined by an empty line. */
export interface PromptSection {
  /** Stable and unique, for example `tooling` or `workspace-file:AGENTS.md`. */
  readonly name: string;
  /** Heading for people. */
  readonly title: string;
  /** The text for the model, including the heading. */
  readonly text: string;
  /** Number of UTF-16 units in `text`. */
  readonly chars: number;
  /** Estimated by `estimateTokens` of `@signalbox/agent-core`. */
  readonly tokens: number;
  readonly part: PromptPart;
}

/** The result of `buildSystemPrompt`. */
export interface BuiltPrompt {
  readonly system: SystemPrompt;
  /** In the order of the prompt. */
  readonly sections: readonly PromptSection[];
}

/** A tool as listed in the prompt. Every `Tool` and `ToolSpec` has these properties. */
export interface PromptTool {
  readonly name: string;
  /** Only the first sentence is listed in the prompt. */
  readonly description: string;
}

/** A workspace file, as returned by `loadWorkspaceFiles`. */
export interface WorkspaceFile {
  /** For example `AGENTS.md`. */
  readonly name: string;
  readonly text: string;
  /** Size on disk in bytes, if `text` is only the start of the file. */
  readonly totalBytes?: number;
}

/** Size limits for the workspace files in the prompt, in characters (UTF-16 units). */
export interface WorkspaceFileLimits {
  /** Maximum size of one file. Default: 20,000. */
  readonly maxFileChars?: number;
  /** Maximum size of all files together. Default: 150,000. */
  readonly maxTotalChars?: number;
}

/** A section of the host at the end of its part (volatile ones before the runtime line). */
export interface ExtraSection {
  /** Unique among all sections. */
  readonly name: string;
  readonly title: string;
  /** The text without the heading. Headings in the text are lowered, so that it stays one section. */
  readonly text: string;
  readonly part: PromptPart;
}

/**
 * Facts about the run, placed after the cache boundary. They do not include the time, because the time of a message is
 * in its context.
 */
export interface PromptRuntime {
  /** Key of the session. */
  readonly session?: string;
  readonly channel?: string;
  /** `provider/model`. */
  readonly model?: string;
  readonly thinking?: string;
  /** Capabilities of the channel, for example `threads` and `reactions`. */
  readonly capabilities?: readonly string[];
  /** Further facts, in this order. */
  readonly facts?: Readonly<Record<string, string>>;
}

/** The input of `buildSystemPrompt`. */
export interface SystemPromptInput {
  readonly mode?: PromptMode;
  readonly agent: {
    readonly id: string;
    readonly name?: string;
    /** Instructions from the operator, which belong to the identity section. */
    readonly systemPrompt?: string;
  };
  /** The tools that this agent may use, in the order of the request. */
  readonly tools?: readonly PromptTool[];
  /** Skills that apply to every request, in full. */
  readonly activeSkills?: readonly ActiveSkill[];
  /** The skill catalog with its `<available_skills>` block. Shown if the agent has the `read` tool. */
  readonly skills?: string;
  /** Absolute path of the agent's folder. */
  readonly workspaceDir?: string;
  /** Documentation of the host. Shown if the agent has the `read` tool. */
  readonly documentation?: Documentation;
  readonly workspaceFiles?: readonly WorkspaceFile[];
  readonly workspaceFileLimits?: WorkspaceFileLimits;
  readonly extra?: readonly ExtraSection[];
  readonly runtime?: PromptRuntime;
  /** Maximum size of all sections together. Essential sections are always kept. Default: no limit. */
  readonly maxTokens?: number;
}

/** Location of the host's documentation. */
export interface Documentation {
  /** Absolute path. */
  readonly dir: string;
  /** Names of the files in it. */
  readonly files: readonly string[];
}

/** A skill that applies to every request. */
export interface ActiveSkill {
  readonly name: string;
  /** Path of the skill file. Paths in its text are relative to its folder. */
  readonly location: string;
  readonly text: string;
}
