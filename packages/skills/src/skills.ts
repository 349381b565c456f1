import {
  type CatalogueOptions,
  createEntries,
  type SkillCatalogue,
  toAgentPath,
  writeCatalogue,
} from "./catalogue.ts";
import { type CommandOptions, createCommands, type SkillCommand } from "./commands.ts";
import type { Ineligibility, Machine } from "./eligibility.ts";
import { entriesById, getEnvironment, type SkillEntries } from "./environment.ts";
import { diskFs } from "./fs.ts";
import { type Candidate, type InventoryContext, takeInventory } from "./inventory.ts";
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
  /** Skills whose whole text is part of the prompt. The catalogue does not list them. */
  readonly active: readonly ActiveSkill[];
  readonly excluded: readonly ExcludedSkill[];
  /** Names in `allow` and `deny` that match no skill. */
  readonly unknown: readonly string[];
  readonly problems: readonly SkillProblem[];
  /** Returns the environment variables for the agent's commands. Their values may be secrets. */
  environment(): Readonly<Record<string, string>>;
  catalogue(options?: CatalogueOptions): Promise<SkillCatalogue>;
  commands(options?: CommandOptions): readonly SkillCommand[];
}

/** A skill whose whole text is part of the prompt. */
interface ActiveSkill {
  readonly name: string;
  readonly location: string;
  /** The text after the frontmatter. */
  readonly text: string;
}

/** A skill that an agent cannot use. */
interface ExcludedSkill {
  readonly skill: Skill;
  readonly reasons: readonly Ineligibility[];
}

/** The report of `check` about a skill. */
export interface SkillReport {
  readonly skill: Skill;
  readonly eligible: boolean;
  readonly reasons: readonly Ineligibility[];
  /** Skills of the same id that this one replaces, the one with the highest precedence first. */
  readonly replaces: readonly { readonly source: SkillSourceKind; readonly file: string }[];
  /** Its slash command, if it has one. */
  readonly command?: string;
}

export interface SkillsCheck {
  readonly skills: readonly SkillReport[];
  readonly problems: readonly SkillProblem[];
  /** Names in `allow` and `deny` that match no skill. */
  readonly unknown: readonly string[];
  /** True if there are no errors and no unknown names. */
  readonly ok: boolean;
}

/** The skills of a host and of its agents' workspaces. Long work is done in slices of a few milliseconds. */
export interface Skills {
  /** Returns the skills of an agent. Sources are scanned again if the last scan is older than `maxAgeMs`. */
  forAgent(options?: AgentSkillsOptions): Promise<AgentSkills>;
  /** Scans again and reports on every skill and every problem, for people. */
  check(options?: AgentSkillsOptions): Promise<SkillsCheck>;
  /** Scans again and returns an agent's skills that are waiting for approval. */
  pending(options?: AgentSkillsOptions): Promise<readonly PendingSkill[]>;
  /** Approves a skill. Returns false if its folder has changed since it was shown. Without `pins`, returns true. */
  approve(pending: Pick<PendingSkill, "skill" | "digest">, by: string): Promise<boolean>;
  /** Returns the fingerprint of a skill's folder. Rejects with a `SkillFolderError` if it cannot be read. */
  pin(skill: Skill): Promise<SkillPin>;
}

/**
 * Creates a finder for skills. It reads nothing before the first call.
 *
 * @example
 * const skills = createSkills({ sources: [{ kind: "managed", dir: "/home/ann/.signalbox/skills" }] });
 * const agent = await skills.forAgent({ workspaceDir: "/srv/workspace" });
 * const { text } = await agent.catalogue();
 */
export function createSkills(options: SkillsOptions): Skills {
  return new LoadedSkills(options);
}

class LoadedSkills implements Skills {
  readonly #maxAgeMs: number;
  readonly #entries: SkillEntries;
  readonly #pinner: Pinner;
  readonly #approvals: SkillApprovals | undefined;
  readonly #context: InventoryContext;

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
    this.#context = {
      sources: options.sources,
      machine,
      entries: this.#entries,
      cache: new SourceCache(fs, now, pacer),
      approvals: this.#approvals,
      pacer,
    };
  }

  async forAgent(agent: AgentSkillsOptions = {}): Promise<AgentSkills> {
    const { candidates, problems, unknown } = await takeInventory(this.#context, agent, this.#maxAgeMs);
    const { pacer } = this.#context;
    const skills = candidates.filter(isEligible).map(({ skill }) => skill);
    const excluded = candidates
      .filter((candidate) => !isEligible(candidate))
      .map(({ skill, reasons }): ExcludedSkill => ({ skill, reasons }));
    const locate = (skill: Skill) => toAgentPath(skill.file, agent.workspaceDir);
    const active = selectActive(skills);
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
      // Skills with higher precedence come first, and their variables win.
      environment: () =>
        Object.assign({}, ...skills.toReversed().map((skill) => getEnvironment(skill, this.#entries))),
      catalogue: (how = {}) =>
        writeCatalogue({ skills: listed, unavailable, entries, note: agent.target?.note }, how, pacer),
      commands: (how = {}) => createCommands(skills, locate, how),
    };
  }

  async check(agent: AgentSkillsOptions = {}): Promise<SkillsCheck> {
    const { candidates, problems, unknown } = await takeInventory(this.#context, agent, 0);
    const eligible = candidates.filter(isEligible).map(({ skill }) => skill);
    const commands = createCommands(eligible, ({ file }) => file, {});
    const commandNames = new Map(commands.map(({ skillId, name }) => [skillId, name]));
    const skills = candidates.map((candidate): SkillReport => {
      const { skill, replaces, reasons } = candidate;
      const command = commandNames.get(skill.id);
      return {
        skill,
        eligible: isEligible(candidate),
        reasons,
        replaces: replaces.map(({ source, file }) => ({ source, file })),
        command,
      };
    });
    const ok = unknown.length === 0 && problems.every(({ severity }) => severity === "warning");
    return { skills, problems, unknown, ok };
  }

  async pending(agent: AgentSkillsOptions = {}): Promise<readonly PendingSkill[]> {
    const { candidates } = await takeInventory(this.#context, agent, 0);
    const waiting: PendingSkill[] = [];
    for (const { skill, reasons } of candidates) {
      if (!reasons.some(({ requirement }) => requirement === "pin")) continue;
      const shown = await this.#approvals?.getPending(skill);
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

/** Total length of the texts in the prompt. Further skills are listed in the catalogue. */
const MAX_ACTIVE_CHARS = 20_000;

/** Selects the skills whose whole text is part of the prompt, as far as they fit. */
function selectActive(skills: readonly Skill[]): readonly Skill[] {
  let left = MAX_ACTIVE_CHARS;
  return skills.filter(({ body = "", disableModelInvocation }) => {
    if (body === "" || disableModelInvocation || body.length > left) return false;
    left -= body.length;
    return true;
  });
}

/** Returns true if a skill is for the agent and only lacks requirements. The agent does not see pending skills. */
function lacksSomething({ reasons }: ExcludedSkill): boolean {
  return reasons.every(({ requirement }) => !["allowed", "enabled", "pin"].includes(requirement));
}

function isEligible({ reasons }: Candidate): boolean {
  return reasons.length === 0;
}
