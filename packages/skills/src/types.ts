/** Where skills come from; a later source replaces a skill of the same id from an earlier one. */
export type SkillSourceKind = "extra" | "bundled" | "managed" | "personal" | "project" | "workspace";

/** A folder with skill folders in it. */
export interface SkillSource {
  readonly kind: SkillSourceKind;
  /** Absolute. A folder that does not exist has no skills. */
  readonly dir: string;
  /** The folder that `dir` must really be in, once links are followed. Default: `dir` may be anywhere. */
  readonly within?: string;
}

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

/** A skill as it was read. Text without authority: nothing in it sets environment, paths or policy. */
export interface Skill {
  /** The name made safe: lower-case letters and digits of any script, `-`, `_` and `.`; at most 64 characters. */
  readonly id: string;
  /** As the frontmatter says, else the name of the folder. */
  readonly name: string;
  /** One line of at most 1,024 characters: from the frontmatter, else the first paragraph or heading. */
  readonly description: string;
  /** What the frontmatter calls its version. */
  readonly declaredVersion?: string;
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
  readonly emoji?: string;
  /** Whether the requirements are waived. */
  readonly always: boolean;
  readonly requires: SkillRequirements;
  /** Whether it has a slash command. Default true. */
  readonly userInvocable: boolean;
  /** Whether only its slash command starts it, so that the prompt does not list it. Default false. */
  readonly disableModelInvocation: boolean;
  /** The tool that its slash command calls without asking the model. */
  readonly dispatch?: SkillDispatch;
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
  readonly message: string;
}

/** Why a skill is not offered. */
export interface Ineligibility {
  readonly requirement: "bins" | "anyBins" | "env" | "config" | "os" | "enabled" | "allowed" | "pin";
  /** What is missing, one by one. */
  readonly missing: readonly string[];
  /** One sentence for people. */
  readonly message: string;
}

/** The machine on which an agent's commands run, where that is not the gateway's. */
export interface RemoteHost {
  readonly platforms: readonly string[];
  hasBin(bin: string): boolean;
  /** Told to the model after the list of skills, for instance the machine's name. */
  readonly note?: string;
}

/** The fingerprint of everything in a skill's folder. */
export interface SkillPin {
  /** SHA-256 over all files, as 64 hexadecimal digits. */
  readonly digest: string;
  /** SHA-256 of each file by its path in the folder. */
  readonly files: Readonly<Record<string, string>>;
}

/** What became of a folder since it was pinned. */
export interface SkillChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** The list of skills in the system prompt. */
export interface SkillCatalogue {
  /** `<available_skills>…</available_skills>` and notes; empty where there is no skill. */
  readonly text: string;
  /** Ids, in the order of the text. */
  readonly included: readonly string[];
  /** Ids of those left out for want of space. */
  readonly omitted: readonly string[];
  /** The first 12 hexadecimal digits of the SHA-256 of the text. */
  readonly version: string;
}

export interface CatalogueOptions {
  /** Default 150. */
  readonly maxSkills?: number;
  /** Length of the text in UTF-16 units. Default 30,000. */
  readonly maxChars?: number;
  /** Where the agent finds SKILL.md of a skill id, where that is not its own place: in a sandbox. */
  readonly locations?: ReadonlyMap<string, string>;
}

/** A slash command made from a skill. */
export interface SkillCommand {
  /** Without the slash: `a-z`, `0-9` and `_`, at most 32 characters. */
  readonly name: string;
  readonly skillId: string;
  /** Where the agent finds SKILL.md. */
  readonly location: string;
  /** One line of at most 100 characters. */
  readonly description: string;
  /** Absent: the model is asked to follow the skill. */
  readonly dispatch?: SkillDispatch;
}

export interface CommandOptions {
  /** Names that are taken, without the slash. */
  readonly reserved?: readonly string[];
  /** Tools the agent has: a command that calls another tool is not offered. Default: any tool. */
  readonly tools?: readonly string[];
  /** As in {@link CatalogueOptions}. */
  readonly locations?: ReadonlyMap<string, string>;
}

/** A message that starts with a skill's command. */
export interface SkillInvocation {
  readonly command: SkillCommand;
  /** What follows the command, trimmed. */
  readonly args: string;
  /** What to give the model in place of the message, where the command has no `dispatch`. */
  readonly prompt: string;
}

export interface AgentSkillsOptions {
  /** Ids or names; absent allows all. */
  readonly allow?: readonly string[] | undefined;
  /** Ids or names, taken from what is allowed. */
  readonly deny?: readonly string[] | undefined;
  /** Absolute. Its `.agents/skills` and `skills` are the sources `project` and `workspace`. */
  readonly workspaceDir?: string | undefined;
  readonly remote?: RemoteHost | undefined;
  /** The pin of a skill by id; a pinned skill that changed is not offered until it is pinned again. */
  readonly pins?: ReadonlyMap<string, SkillPin> | undefined;
}

/** A skill that is there but not offered to an agent. */
export interface ExcludedSkill {
  readonly skill: Skill;
  readonly reasons: readonly Ineligibility[];
}

/** The skills of one agent. */
export interface AgentSkills {
  /** By precedence of their sources, the highest first, then by id. */
  readonly skills: readonly Skill[];
  readonly excluded: readonly ExcludedSkill[];
  /** Entries of `allow` and `deny` that name no skill. */
  readonly unknown: readonly string[];
  readonly problems: readonly SkillProblem[];
  catalogue(options?: CatalogueOptions): SkillCatalogue;
  commands(options?: CommandOptions): readonly SkillCommand[];
}

/** One line of `check`. */
export interface SkillReport {
  readonly skill: Skill;
  readonly eligible: boolean;
  readonly reasons: readonly Ineligibility[];
  /** Other places of the same id that this one replaces, the nearest first. */
  readonly replaces: readonly { readonly source: SkillSourceKind; readonly file: string }[];
  /** Its slash command, if it has one. */
  readonly command?: string;
}

export interface SkillsCheck {
  readonly skills: readonly SkillReport[];
  readonly problems: readonly SkillProblem[];
  /** Entries of `allow` and `deny` that name no skill. */
  readonly unknown: readonly string[];
  /** No errors, and every name known. */
  readonly ok: boolean;
}

/** What a scan found to be different from the one before, by id. */
export interface SkillsLoad {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly problems: readonly SkillProblem[];
}

/** What stands in a folder, links not followed. */
export interface FolderEntry {
  readonly name: string;
  readonly kind: FileKind;
}

export type FileKind = "file" | "folder" | "link" | "other";

/** A file or folder, links not followed. */
export interface FileStat {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Differs whenever the content may have changed. */
  readonly stamp: string;
  /** Whether its owner may run it. */
  readonly executable: boolean;
}

/** The parts of a file system that loading needs. Missing things give undefined; anything else may throw. */
export interface SkillFs {
  list(dir: string): readonly FolderEntry[] | undefined;
  stat(path: string): FileStat | undefined;
  /** The path with all links followed. */
  realpath(path: string): string | undefined;
  /**
   * The content, if it is a regular file and no link, has at most `maxBytes`, and is really in `within`, whose own
   * links are followed already.
   */
  read(path: string, maxBytes: number, within: string): Uint8Array | undefined;
}

export interface SkillsOptions {
  /** In any order; precedence is that of their kinds, and within a kind the later replaces the earlier. */
  readonly sources: readonly SkillSource[];
  /** Default: the disk. */
  readonly fs?: SkillFs;
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: that of the process. */
  readonly platform?: string;
  /** Whether a program is on the path. Default: looks along `PATH` of `env`, and remembers for a minute. */
  readonly which?: (bin: string) => boolean;
  /** Whether a dotted key of the configuration is set and not false. Default: none is. */
  readonly hasConfig?: (key: string) => boolean;
  /** Settings by id or name; `enabled: false` switches a skill off. */
  readonly entries?: Readonly<Record<string, { readonly enabled?: boolean | undefined }>>;
  /** Written as `~` in the catalogue. Default: the home of the user. */
  readonly home?: string;
  /** Milliseconds for which a scan is taken as still true. Default 1,000. */
  readonly maxAgeMs?: number;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

/** Skills of the gateway and of its agents' workspaces. */
export interface Skills {
  /** Scans now. Only what changed is read again. */
  load(): SkillsLoad;
  /** All skills of the gateway's own sources, by id. */
  list(): readonly Skill[];
  /** The skills one agent may use, scanned again only if the last scan is older than `maxAgeMs`. */
  forAgent(options?: AgentSkillsOptions): AgentSkills;
  /** All that can be said, for people: each skill, whether it is eligible and why not, and every problem. */
  check(options?: AgentSkillsOptions): SkillsCheck;
  /** The fingerprint of a skill's folder. */
  pin(skill: Skill): SkillPin;
}
