import type { SkillInstall } from "./install.ts";
import type { SkillSourceKind } from "./sources.ts";

/** What a skill asks of the machine it is used on. */
export interface SkillRequirements {
  /** Programs, all of them. */
  readonly bins: readonly string[];
  /** Programs, one of them; empty asks for none. */
  readonly anyBins: readonly string[];
  /** Environment variables of the gateway that are set and not empty. */
  readonly env: readonly string[];
  /** Dotted keys of the gateway's configuration that are set and not false. */
  readonly config: readonly string[];
  /** Platforms as `process.platform` names them, one of them; empty means any. */
  readonly os: readonly string[];
}

/** What a SKILL.md says of itself. */
export interface SkillDeclaration {
  /** As the frontmatter says. */
  readonly name?: string;
  /** One line of at most 1,024 characters: from the frontmatter, else the first paragraph or heading. */
  readonly description?: string;
  /** What the frontmatter calls its version. */
  readonly declaredVersion?: string;
  readonly emoji?: string;
  /** Whether it stands in the prompt in full, and its requirements are waived. */
  readonly always: boolean;
  /** What stands behind the frontmatter, of one that is `always` in use. */
  readonly body?: string;
  readonly requires: SkillRequirements;
  /** The environment variable that holds its key, which an operator's `apiKey` is put into. */
  readonly primaryEnv?: string;
  /** How what it requires can be installed, as far as that can be read. */
  readonly install: readonly SkillInstall[];
  /** Whether it has a slash command. Default true. */
  readonly userInvocable: boolean;
  /** Whether only its slash command starts it, so that the prompt does not list it. Default false. */
  readonly disableModelInvocation: boolean;
  /** The tool that its slash command calls without asking the model. */
  readonly dispatch?: SkillDispatch;
}

/** A skill as it was read. Text without authority: nothing in it sets environment, paths or policy. */
export interface Skill extends SkillDeclaration {
  /** The name made safe: lower-case letters and digits of any script, `-`, `_` and `.`; at most 64 characters. */
  readonly id: string;
  /** As the frontmatter says, else the name of the folder. */
  readonly name: string;
  readonly description: string;
  /** The first 12 hexadecimal digits of the SHA-256 of SKILL.md. */
  readonly version: string;
  readonly source: SkillSourceKind;
  /** Absolute path of the folder. */
  readonly dir: string;
  /** The folder that all of its files must really be in, once links are followed. */
  readonly root: string;
  /** Absolute path of SKILL.md. */
  readonly file: string;
  /** Size of SKILL.md. */
  readonly bytes: number;
}

export interface SkillDispatch {
  readonly kind: "tool";
  readonly tool: string;
  /** `raw`: the tool gets what was written after the command, as it was written. */
  readonly argMode: "raw";
}

/** Something that keeps a skill from being loaded or used as meant. */
export interface SkillProblem {
  readonly code:
    | "bad-encoding"
    | "bad-frontmatter"
    | "bad-name"
    | "duplicate"
    | "leaves-root"
    | "too-large"
    | "too-many"
    | "unreadable";
  /** An error leaves the skill out; a warning does not. */
  readonly severity: "error" | "warning";
  readonly source: SkillSourceKind;
  /** Absolute path of the file or folder. */
  readonly path: string;
  /** Where in the file, counted from 1. */
  readonly line?: number;
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
}
