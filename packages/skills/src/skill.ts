import type { SkillInstall } from "./install.ts";
import type { SkillSourceKind } from "./sources.ts";

/** The requirements of a skill on its machine. */
interface SkillRequirements {
  /** Programs, all of which are needed. */
  readonly bins: readonly string[];
  /** Programs, one of which is needed. Empty: none. */
  readonly anyBins: readonly string[];
  /** Environment variables that must be set and not empty. */
  readonly env: readonly string[];
  /** Dotted keys of the configuration that must be set and not false. */
  readonly config: readonly string[];
  /** Platforms, named as in `process.platform`. Empty: any. */
  readonly os: readonly string[];
}

/** The declarations of a SKILL.md. */
export interface SkillDeclaration {
  /** From the frontmatter. */
  readonly name?: string;
  /** One line of at most 1,024 characters, from the frontmatter or else the first paragraph or heading. */
  readonly description?: string;
  /** `version` of the frontmatter. */
  readonly declaredVersion?: string;
  readonly emoji?: string;
  /** Descriptions of its slash command by language (`zh`), from `metadata.signalbox.localized`. */
  readonly localized?: Readonly<Record<string, string>>;
  /** True if the whole text is part of the prompt, and requirements are ignored. */
  readonly always: boolean;
  /** The text after the frontmatter, of a skill that is `always` in use. */
  readonly body?: string;
  readonly requires: SkillRequirements;
  /** The environment variable for an operator's `apiKey`. */
  readonly primaryEnv?: string;
  /** Instructions for installing requirements that could be parsed. */
  readonly install: readonly SkillInstall[];
  /** True if it has a slash command. Default: true. */
  readonly userInvocable: boolean;
  /** True if only its slash command starts it, so that the catalogue does not list it. Default: false. */
  readonly disableModelInvocation: boolean;
  /** The tool that its slash command calls without the model. */
  readonly dispatch?: SkillDispatch;
  /** Parts of the frontmatter that were ignored, each with the reason. */
  readonly warnings: readonly string[];
}

/** A skill as it was read. It has no authority: nothing in it sets the environment, paths or policy. */
export interface Skill extends SkillDeclaration {
  /** Id derived from the name; see `toSkillId`. At most 64 characters. */
  readonly id: string;
  /** From the frontmatter, or else the name of the folder. */
  readonly name: string;
  readonly description: string;
  /** SHA-256 of SKILL.md as it was read, in hexadecimal. */
  readonly sha256: string;
  /** The first 12 digits of `sha256`. */
  readonly version: string;
  readonly source: SkillSourceKind;
  /** Absolute path of the folder. */
  readonly dir: string;
  /** The folder that must contain all of its files after links are resolved. */
  readonly root: string;
  /** Absolute path of SKILL.md. */
  readonly file: string;
  /** Size of SKILL.md, in bytes. */
  readonly bytes: number;
}

export interface SkillDispatch {
  readonly kind: "tool";
  readonly tool: string;
  /** `raw`: the tool gets the text after the command unchanged. */
  readonly argMode: "raw";
}

/** A problem with a file or folder of a source. */
export interface SkillProblem {
  readonly code:
    | "bad_encoding"
    | "bad_frontmatter"
    | "bad_name"
    | "duplicate"
    | "leaves_root"
    | "too_large"
    | "too_many"
    | "unreadable";
  /** An error leaves the skill out. A warning does not. */
  readonly severity: "error" | "warning";
  readonly source: SkillSourceKind;
  /** Absolute path of the file or folder. */
  readonly path: string;
  /** Line in the file, from 1. */
  readonly line?: number;
  readonly message: string;
  /** The remedy. */
  readonly remedy: string;
}
