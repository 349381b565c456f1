import type { SkillTarget } from "./eligibility.ts";
import type { SkillEntry } from "./environment.ts";
import type { SkillFs } from "./fs.ts";
import type { CompareTexts } from "./pins/approvals.ts";
import type { PinStore } from "./pins/pin-store.ts";
import type { SkillSource } from "./sources.ts";

/** Where approvals of skills are kept, and how whoever approves is shown what became of a text. */
export interface SkillPins {
  readonly store: PinStore;
  readonly compare: CompareTexts;
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
  /** What an operator says of single skills, by id or name. Default: nothing. */
  readonly entries?: Readonly<Record<string, SkillEntry>>;
  /**
   * Milliseconds for which a scan is taken as still true. Default 1,000. One that took long is trusted for twenty
   * times as long as it took, so that scanning never takes more than a twentieth of the time.
   */
  readonly maxAgeMs?: number;
  /** How skills are approved. Default: they need not be. */
  readonly pins?: SkillPins;
  /** Whether a skill is pinned as it is first seen. Default true; false for commands that only look. */
  readonly pinsFirstSeen?: () => boolean;
  /** Default `Date.now`. */
  readonly now?: () => number;
}

export interface AgentSkillsOptions {
  /** Ids or names; absent allows all. */
  readonly allow?: readonly string[] | undefined;
  /** Ids or names, taken from what is allowed. */
  readonly deny?: readonly string[] | undefined;
  /** Absolute. Its `.agents/skills` and `skills` are the sources `project` and `workspace`. */
  readonly workspaceDir?: string | undefined;
  /** Default: its commands find what the gateway does. */
  readonly target?: SkillTarget | undefined;
}
