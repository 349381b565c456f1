import {
  agentPath,
  type CatalogueOptions,
  createEntries,
  type SkillCatalogue,
  writeCatalogue,
} from "./catalogue.ts";
import { type CommandOptions, makeCommands, type SkillCommand } from "./commands.ts";
import type { Ineligibility, Machine } from "./eligibility.ts";
import { entriesById, environmentOf, type SkillEntries } from "./environment.ts";
import { diskFs } from "./fs.ts";
import { type Candidate, type InventorySetting, takeInventory } from "./inventory.ts";
import type { AgentSkillsOptions, SkillsOptions } from "./options.ts";
import { createPacer } from "./pacer.ts";
import { createPathLookup } from "./path-lookup.ts";
import { type PendingSkill, SkillApprovals } from "./pins/approvals.ts";
import { Pinner, type SkillPin } from "./pins/pin.ts";
import type { Skill, SkillProblem } from "./skill.ts";
import { SourceCache } from "./source-cache.ts";
import type { SkillSourceKind } from "./sources.ts";

/** The skills of one agent. */
export interface AgentSkills {
  /** By precedence of their sources, the highest first, then by id. */
  readonly skills: readonly Skill[];
  /** Those that stand in the prompt in full; the catalogue does not list them. */
  readonly active: readonly ActiveSkill[];
  readonly excluded: readonly ExcludedSkill[];
  /** Entries of `allow` and `deny` that name no skill. */
  readonly unknown: readonly string[];
  readonly problems: readonly SkillProblem[];
  /** What the entries of its skills set for its commands. May contain keys: for its commands only. */
  environment(): Readonly<Record<string, string>>;
  catalogue(options?: CatalogueOptions): Promise<SkillCatalogue>;
  commands(options?: CommandOptions): readonly SkillCommand[];
}

/** A skill as it stands in the prompt in full. */
export interface ActiveSkill {
  readonly name: string;
  readonly location: string;
  /** What is behind the frontmatter. */
  readonly text: string;
}

/** An existing skill that is not offered to an agent. */
export interface ExcludedSkill {
  readonly skill: Skill;
  readonly reasons: readonly Ineligibility[];
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

/** Skills of the gateway and of its agents' workspaces. Long work is done in slices of some milliseconds. */
export interface Skills {
  /** The skills one agent may use, scanned again only if the last scan is older than `maxAgeMs`. */
  forAgent(options?: AgentSkillsOptions): Promise<AgentSkills>;
  /** All that can be said, for people, by a new scan: each skill, whether it is eligible and why not, each problem. */
  check(options?: AgentSkillsOptions): Promise<SkillsCheck>;
  /** The skills of an agent that wait for an owner, by a new scan. */
  pending(options?: AgentSkillsOptions): Promise<readonly PendingSkill[]>;
  /** Approves a skill as an owner was shown it; false if its folder has changed since. Without `pins`, always true. */
  approve(pending: Pick<PendingSkill, "skill" | "digest">, by: string): Promise<boolean>;
  /** The fingerprint of a skill's folder. Rejects with a `SkillFolderError` where it cannot be read. */
  pin(skill: Skill): Promise<SkillPin>;
}

/** Finds skills. Reads nothing until it is asked. */
export function createSkills(options: SkillsOptions): Skills {
  return new LoadedSkills(options);
}

class LoadedSkills implements Skills {
  readonly #maxAgeMs: number;
  readonly #entries: SkillEntries;
  readonly #pinner: Pinner;
  readonly #approvals: SkillApprovals | undefined;
  readonly #setting: InventorySetting;

  constructor(options: SkillsOptions) {
    const pacer = createPacer();
    const fs = options.fs ?? diskFs;
    const env = options.env ?? process.env;
    const platform = options.platform ?? process.platform;
    this.#maxAgeMs = options.maxAgeMs ?? 1_000;
    const now = options.now ?? Date.now;
    const pinsFirstSeen = options.pinsFirstSeen ?? (() => true);
    const machine: Machine = {
      env,
      platform,
      hasBin: options.which ?? createPathLookup(env, platform, now),
      hasConfig: options.hasConfig ?? (() => false),
    };
    this.#entries = entriesById(options.entries);
    this.#pinner = new Pinner(fs, pacer);
    this.#approvals =
      options.pins && new SkillApprovals({ ...options.pins, pinsFirstSeen, pinner: this.#pinner, fs, now });
    this.#setting = {
      sources: options.sources,
      machine,
      entries: this.#entries,
      cache: new SourceCache(fs, now, pacer),
      approvals: this.#approvals,
      pacer,
    };
  }

  async forAgent(agent: AgentSkillsOptions = {}): Promise<AgentSkills> {
    const { candidates, problems, unknown } = await takeInventory(this.#setting, agent, this.#maxAgeMs);
    const { pacer } = this.#setting;
    const skills = candidates.filter(isEligible).map(({ skill }) => skill);
    const excluded = candidates
      .filter((candidate) => !isEligible(candidate))
      .map(({ skill, reasons }): ExcludedSkill => ({ skill, reasons }));
    const locate = (skill: Skill) => agentPath(skill.file, agent.workspaceDir);
    const active = activeOf(skills);
    const listed = skills.filter((skill) => !skill.disableModelInvocation && !active.includes(skill));
    const entries = createEntries(locate);
    const unavailable = excluded.filter(lacksSomething).map(({ skill: { id }, reasons }) => ({
      id,
      reason: reasons.map(({ message }) => message).join(" "),
    }));
    return {
      skills,
      active: active.map((skill) => ({ name: skill.name, location: locate(skill), text: skill.body ?? "" })),
      excluded,
      unknown,
      problems,
      // What is nearer to the agent comes first, and counts before what is not.
      environment: () =>
        Object.assign({}, ...skills.toReversed().map((skill) => environmentOf(skill, this.#entries))),
      catalogue: (how = {}) =>
        writeCatalogue({ skills: listed, unavailable, entries, note: agent.target?.note }, how, pacer),
      commands: (how = {}) => makeCommands(skills, locate, how),
    };
  }

  async check(agent: AgentSkillsOptions = {}): Promise<SkillsCheck> {
    const { candidates, problems, unknown } = await takeInventory(this.#setting, agent, 0);
    const eligible = candidates.filter(isEligible).map(({ skill }) => skill);
    const commands = makeCommands(eligible, ({ file }) => file, {});
    const commandOf = new Map(commands.map(({ skillId, name }) => [skillId, name]));
    const skills = candidates.map((candidate): SkillReport => {
      const { skill, replaces, reasons } = candidate;
      const command = commandOf.get(skill.id);
      return {
        skill,
        eligible: isEligible(candidate),
        reasons,
        replaces: replaces.map(({ source, file }) => ({ source, file })),
        ...(command === undefined ? {} : { command }),
      };
    });
    const ok = unknown.length === 0 && problems.every(({ severity }) => severity === "warning");
    return { skills, problems, unknown, ok };
  }

  async pending(agent: AgentSkillsOptions = {}): Promise<readonly PendingSkill[]> {
    const { candidates } = await takeInventory(this.#setting, agent, 0);
    const waiting: PendingSkill[] = [];
    for (const { skill, reasons } of candidates) {
      if (!reasons.some(({ requirement }) => requirement === "pin")) continue;
      const shown = await this.#approvals?.pending(skill);
      if (shown !== undefined) waiting.push(shown);
    }
    return waiting;
  }

  async approve({ skill, digest }: Pick<PendingSkill, "skill" | "digest">, by: string): Promise<boolean> {
    return (await this.#approvals?.approve(skill, digest, by)) ?? true;
  }

  pin(skill: Skill): Promise<SkillPin> {
    return this.#pinner.pin(skill);
  }
}

/** Of the skills that are always in use, in all; what is beyond stays in the catalogue. */
const MAX_ACTIVE_CHARS = 20_000;

/** The skills that stand in the prompt in full, as far as they fit. */
function activeOf(skills: readonly Skill[]): readonly Skill[] {
  let left = MAX_ACTIVE_CHARS;
  return skills.filter(({ body = "", disableModelInvocation }) => {
    if (body === "" || disableModelInvocation || body.length > left) return false;
    left -= body.length;
    return true;
  });
}

/** Whether a skill is meant for the agent and only lacks something; one that waits for an owner is not mentioned. */
function lacksSomething({ reasons }: ExcludedSkill): boolean {
  return reasons.every(({ requirement }) => !["allowed", "enabled", "pin"].includes(requirement));
}

function isEligible({ reasons }: Candidate): boolean {
  return reasons.length === 0;
}
