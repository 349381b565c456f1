import type { SkillTarget } from "./eligibility.ts";
import type { SkillEntry } from "./environment.ts";
import type { SkillFs } from "./fs.ts";
import type { CompareTexts } from "./pins/approvals.ts";
import type { PinStore } from "./pins/pin-store.ts";
import type { SkillSource } from "./sources.ts";

/** Storage for approvals of skills, and the diff shown to the person who approves. */
interface SkillPins {
  /** Returns undefined while the store is not open. Skills then need no approval, and nothing is stored. */
  readonly store: () => PinStore | undefined;
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
  /** Returns true if a program is installed. Default: searches the `PATH` of `env` and caches results for a minute. */
  readonly which?: (bin: string) => boolean;
  /** Returns true if a dotted key of the configuration is set and not false. Default: false. */
  readonly hasConfig?: (key: string) => boolean;
  /** An operator's settings for single skills, by id or name. Default: none. */
  readonly entries?: Readonly<Record<string, SkillEntry>>;
  /**
   * Lifetime of a scan, in milliseconds. A slow scan is used for at least twenty times its duration. Default: 1,000.
   */
  readonly maxAgeMs?: number;
  /** Approval of skills. Default: skills need no approval. */
  readonly pins?: SkillPins;
  /** Returns true if skills that are new to a source are approved as they are. Default: true. */
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
  /** The machine on which the agent's commands run. Default: the gateway's. */
  readonly target?: SkillTarget | undefined;
}
