import type { SkillTarget } from "./eligibility.ts";
import type { SkillEntry } from "./environment.ts";
import type { SkillFs } from "./fs.ts";
import type { CompareTexts } from "./pins/approvals.ts";
import type { PinStore } from "./pins/pin-store.ts";
import type { SkillSource } from "./sources.ts";

/** Where approvals of skills are stored, and how changes are shown to whoever approves. */
interface SkillPins {
  readonly store: PinStore;
  readonly compare: CompareTexts;
}

export interface SkillsOptions {
  /** In any order. Precedence follows from their kinds; within a kind, the later source replaces the earlier one. */
  readonly sources: readonly SkillSource[];
  /** Default: the disk. */
  readonly fs?: SkillFs;
  /** Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: `process.platform`. */
  readonly platform?: string;
  /** Returns whether a program is installed. Default: searches the `PATH` of `env` and caches results for a minute. */
  readonly which?: (bin: string) => boolean;
  /** Returns whether a dotted key of the configuration is set and not false. Default: false. */
  readonly hasConfig?: (key: string) => boolean;
  /** An operator's settings for single skills, by id or name. Default: none. */
  readonly entries?: Readonly<Record<string, SkillEntry>>;
  /**
   * How long a scan is used, in milliseconds. A scan that took long is used for at least twenty times as long as it
   * took. Default: 1,000.
   */
  readonly maxAgeMs?: number;
  /** How skills are approved. Default: skills need no approval. */
  readonly pins?: SkillPins;
  /** Returns whether skills that are new to a source are approved as they are. Default: true. */
  readonly pinsFirstSeen?: () => boolean;
  /** Milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

export interface AgentSkillsOptions {
  /** Ids or names of the skills that the agent may use. Default: all. */
  readonly allow?: readonly string[] | undefined;
  /** Ids or names of skills that the agent may not use. */
  readonly deny?: readonly string[] | undefined;
  /** Absolute path. Its `.agents/skills` and `skills` are the sources `project` and `workspace`. */
  readonly workspaceDir?: string | undefined;
  /** Where the agent's commands run. Default: where the gateway runs. */
  readonly target?: SkillTarget | undefined;
}
