import { type Ineligibility, type Machine, unmetRequirements } from "./eligibility.ts";
import { environmentOf, type SkillEntries } from "./environment.ts";
import { isInside } from "./fs.ts";
import { toSkillId } from "./ids.ts";
import type { AgentSkillsOptions } from "./options.ts";
import type { Pacer } from "./pacer.ts";
import type { SkillApprovals } from "./pins/approvals.ts";
import type { Skill, SkillProblem } from "./skill.ts";
import type { SourceCache } from "./source-cache.ts";
import { precedenceOf, type SkillSource, workspaceSources } from "./sources.ts";

/** What an inventory is taken of, and with. */
export interface InventorySetting {
  /** Those of every agent. */
  readonly sources: readonly SkillSource[];
  readonly machine: Machine;
  readonly entries: SkillEntries;
  readonly cache: SourceCache;
  /** Absent: none is needed. */
  readonly approvals: SkillApprovals | undefined;
  readonly pacer: Pacer;
}

/** A skill as one agent sees it; usable if there are no reasons against it. */
export interface Candidate {
  readonly skill: Skill;
  /** Skills of the same id from lower sources, the nearest first. */
  readonly replaces: readonly Skill[];
  readonly reasons: readonly Ineligibility[];
}

/** What an agent has, and what is wrong with it. */
export interface Inventory {
  /** By precedence of their sources, the highest first, then by id. */
  readonly candidates: readonly Candidate[];
  readonly problems: readonly SkillProblem[];
  readonly unknown: readonly string[];
}

/** What one agent has, by scans and checks that are at most so old, in milliseconds. */
export async function takeInventory(
  setting: InventorySetting,
  agent: AgentSkillsOptions,
  maxAge: number,
): Promise<Inventory> {
  const { cache, approvals, pacer } = setting;
  const own = agent.workspaceDir === undefined ? [] : workspaceSources(agent.workspaceDir);
  const sources = [...setting.sources, ...own].sort((a, b) => precedenceOf(a.kind) - precedenceOf(b.kind));
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
    const unmet = reasonsAgainst(skill, setting, agent, listed);
    const unapproved = await approvals?.against(skill, sourceDirOf(skill, sources), maxAge);
    const reasons = unapproved === undefined ? unmet : [...unmet, unapproved];
    candidates.push({ skill, replaces, reasons });
  }
  for (const { dir } of own) await approvals?.know(dir);
  await pacer.pause();
  const ids = new Set(candidates.map(({ skill }) => skill.id));
  const names = new Set([...(agent.allow ?? []), ...(agent.deny ?? [])]);
  const unknown = [...names].filter((name) => !ids.has(toSkillId(name) ?? ""));
  return { candidates: candidates.sort(byImportance), problems, unknown };
}

function reasonsAgainst(
  skill: Skill,
  { machine, entries }: InventorySetting,
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
  if (entries.get(id)?.enabled === false) {
    const message = "It is switched off in the configuration.";
    return [{ requirement: "enabled", missing: [id], message }];
  }
  return unmetRequirements(skill, machine, { target: agent.target, given: environmentOf(skill, entries) });
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

/** What stands nearer to the agent comes first, and is the last to be left out for want of space. */
function byImportance({ skill: a }: Candidate, { skill: b }: Candidate): number {
  return precedenceOf(b.source) - precedenceOf(a.source) || (a.id < b.id ? -1 : 1);
}
