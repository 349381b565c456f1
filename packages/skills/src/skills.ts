import { agentPath, type CatalogueOptions, type SkillCatalogue, writeCatalogue } from "./catalogue.ts";
import { type CommandOptions, makeCommands, type SkillCommand } from "./commands.ts";
import { type Ineligibility, type Machine, type RemoteHost, unmetRequirements } from "./eligibility.ts";
import { diskFs, isInside, type SkillFs } from "./fs.ts";
import { toSkillId } from "./ids.ts";
import { createPacer } from "./pacer.ts";
import { createPathLookup } from "./path-lookup.ts";
import { type PendingSkill, SkillApprovals } from "./pins/approvals.ts";
import { Pinner, type SkillPin } from "./pins/pin.ts";
import type { PinStore } from "./pins/pin-store.ts";
import type { Skill, SkillProblem } from "./skill.ts";
import { SourceCache } from "./source-cache.ts";
import { precedenceOf, type SkillSource, type SkillSourceKind, workspaceSources } from "./sources.ts";

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
  /** Settings by id or name; `enabled: false` switches a skill off. Default: none is off. */
  readonly entries?: Readonly<Record<string, { readonly enabled?: boolean | undefined }>>;
  /**
   * Milliseconds for which a scan is taken as still true. Default 1,000. One that took long is trusted for twenty
   * times as long as it took, so that scanning never takes more than a twentieth of the time.
   */
  readonly maxAgeMs?: number;
  /** Where approvals of skills are kept. Default: none is needed. */
  readonly pins?: PinStore;
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
  readonly remote?: RemoteHost | undefined;
}

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
  catalogue(options?: CatalogueOptions): SkillCatalogue;
  commands(options?: CommandOptions): readonly SkillCommand[];
}

/** A skill as it stands in the prompt in full. */
export interface ActiveSkill {
  readonly name: string;
  readonly location: string;
  /** What is behind the frontmatter. */
  readonly text: string;
}

/** A skill that is there but not offered to an agent. */
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
  /** Approves a skill as an owner was shown it; false where its folder has changed since. */
  approve(pending: Pick<PendingSkill, "skill" | "digest">, by: string): Promise<boolean>;
  /** The fingerprint of a skill's folder. Rejects with a `SkillFolderError` where it cannot be read. */
  pin(skill: Skill): Promise<SkillPin>;
}

/** A skill as one agent sees it; it may be used where there are no reasons against it. */
interface Candidate {
  readonly skill: Skill;
  /** Skills of the same id from lower sources, the nearest first. */
  readonly replaces: readonly Skill[];
  readonly reasons: readonly Ineligibility[];
}

interface Inventory {
  /** By precedence of their sources, the highest first, then by id. */
  readonly candidates: readonly Candidate[];
  readonly problems: readonly SkillProblem[];
  readonly unknown: readonly string[];
}

/** Finds skills. Reads nothing until it is asked. */
export function createSkills(options: SkillsOptions): Skills {
  const { fs = diskFs, env = process.env, platform = process.platform } = options;
  const { maxAgeMs = 1_000, now = Date.now, pinsFirstSeen = () => true } = options;
  const machine: Machine = {
    env,
    platform,
    hasBin: options.which ?? createPathLookup(env, platform, now),
    hasConfig: options.hasConfig ?? (() => false),
  };
  const switchedOff = new Set(
    Object.entries(options.entries ?? {}).flatMap(([name, { enabled }]) =>
      enabled === false ? [toSkillId(name)] : [],
    ),
  );
  const pacer = createPacer();
  const cache = new SourceCache(fs, now, pacer);
  const pinner = new Pinner(fs, pacer);
  const approvals =
    options.pins && new SkillApprovals({ store: options.pins, pinsFirstSeen, pinner, fs, now });

  async function takeInventory(agent: AgentSkillsOptions, maxAge: number): Promise<Inventory> {
    const own = agent.workspaceDir === undefined ? [] : workspaceSources(agent.workspaceDir);
    const sources = [...options.sources, ...own].sort((a, b) => precedenceOf(a.kind) - precedenceOf(b.kind));
    const skills: Skill[] = [];
    const problems: SkillProblem[] = [];
    for (const source of sources) {
      const scan = await cache.scan(source, maxAge);
      skills.push(...scan.skills);
      problems.push(...scan.problems);
    }
    const listed = listOf(agent);
    const candidates: Candidate[] = [];
    for (const [skill, ...replaces] of byId(skills)) {
      await pacer.pause();
      const unmet = reasonsAgainst(skill, agent, listed);
      const unapproved = await approvals?.against(skill, sourceDirOf(skill, sources), maxAge);
      const reasons = unapproved === undefined ? unmet : [...unmet, unapproved];
      candidates.push({ skill, replaces, reasons });
    }
    for (const { dir } of own) await approvals?.know(dir);
    const ids = new Set(candidates.map(({ skill }) => skill.id));
    const names = new Set([...(agent.allow ?? []), ...(agent.deny ?? [])]);
    const unknown = [...names].filter((name) => !ids.has(toSkillId(name) ?? ""));
    return { candidates: candidates.sort(byImportance), problems, unknown };
  }

  function reasonsAgainst(
    skill: Skill,
    agent: AgentSkillsOptions,
    { allow, deny }: AgentList,
  ): readonly Ineligibility[] {
    const { id } = skill;
    if (deny.has(id)) {
      return [{ requirement: "allowed", missing: [id], message: "The agent is denied it." }];
    }
    if (allow !== undefined && !allow.has(id)) {
      return [{ requirement: "allowed", missing: [id], message: "It is not in the agent's list." }];
    }
    if (switchedOff.has(id)) {
      const message = "It is switched off in the configuration.";
      return [{ requirement: "enabled", missing: [id], message }];
    }
    return unmetRequirements(skill, machine, agent.remote);
  }

  async function forAgent(agent: AgentSkillsOptions = {}): Promise<AgentSkills> {
    const { candidates, problems, unknown } = await takeInventory(agent, maxAgeMs);
    const skills = candidates.filter(isEligible).map(({ skill }) => skill);
    const excluded = candidates
      .filter((candidate) => !isEligible(candidate))
      .map(({ skill, reasons }): ExcludedSkill => ({ skill, reasons }));
    const locate = (skill: Skill) => agentPath(skill.file, agent.workspaceDir);
    const active = activeOf(skills);
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
      catalogue(how = {}) {
        const offered = skills.filter((skill) => !skill.disableModelInvocation && !active.includes(skill));
        return writeCatalogue({ skills: offered, unavailable, locate, note: agent.remote?.note }, how);
      },
      commands: (how = {}) => makeCommands(skills, locate, how),
    };
  }

  async function check(agent: AgentSkillsOptions = {}): Promise<SkillsCheck> {
    const { candidates, problems, unknown } = await takeInventory(agent, 0);
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

  async function pending(agent: AgentSkillsOptions = {}): Promise<readonly PendingSkill[]> {
    const { candidates } = await takeInventory(agent, 0);
    const waiting: PendingSkill[] = [];
    for (const { skill, reasons } of candidates) {
      if (!reasons.some(({ requirement }) => requirement === "pin")) continue;
      const shown = await approvals?.pending(skill);
      if (shown !== undefined) waiting.push(shown);
    }
    return waiting;
  }

  return {
    forAgent,
    check,
    pending,
    approve: async ({ skill, digest }, by) => (await approvals?.approve(skill, digest, by)) ?? true,
    pin: (skill) => pinner.pin(skill),
  };
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

interface AgentList {
  readonly allow: ReadonlySet<string | undefined> | undefined;
  readonly deny: ReadonlySet<string | undefined>;
}

/** What an agent's lists name, as ids. */
function listOf({ allow, deny = [] }: AgentSkillsOptions): AgentList {
  const ids = (names: readonly string[]) => new Set(names.map((name) => toSkillId(name)));
  return { allow: allow && ids(allow), deny: ids(deny) };
}

/** Skills of one id together, that of the highest source first; they come from the lowest source to the highest. */
function byId(skills: readonly Skill[]): Iterable<readonly [Skill, ...Skill[]]> {
  const groups = new Map<string, readonly [Skill, ...Skill[]]>();
  for (const skill of skills) groups.set(skill.id, [skill, ...(groups.get(skill.id) ?? [])]);
  return groups.values();
}

function sourceDirOf(skill: Skill, sources: readonly SkillSource[]): string {
  return (
    sources.find(({ kind, dir }) => kind === skill.source && isInside(skill.dir, dir))?.dir ?? skill.root
  );
}

function isEligible({ reasons }: Candidate): boolean {
  return reasons.length === 0;
}

/** What stands nearer to the agent comes first, and is the last to be left out for want of space. */
function byImportance({ skill: a }: Candidate, { skill: b }: Candidate): number {
  return precedenceOf(b.source) - precedenceOf(a.source) || (a.id < b.id ? -1 : 1);
}
