import { findUnmetRequirements, type Ineligibility, type Machine } from "./eligibility.ts";
import { getEnvironment, type SkillEntries } from "./environment.ts";
import { isInside } from "./fs.ts";
import { toSkillId } from "./ids.ts";
import type { AgentSkillsOptions } from "./options.ts";
import type { Pacer } from "./pacer.ts";
import type { SkillApprovals } from "./pins/approvals.ts";
import type { Skill, SkillProblem } from "./skill.ts";
import type { SourceCache } from "./source-cache.ts";
import { getPrecedence, type SkillSource, workspaceSources } from "./sources.ts";

/** Dependencies of an inventory. */
export interface InventoryContext {
  /** The sources that all agents share. */
  readonly sources: readonly SkillSource[];
  readonly machine: Machine;
  readonly entries: SkillEntries;
  readonly cache: SourceCache;
  /** If absent, skills need no approval. */
  readonly approvals: SkillApprovals | undefined;
  readonly pacer: Pacer;
}

/** A skill as one agent sees it. It can be used if there are no reasons against it. */
export interface Candidate {
  readonly skill: Skill;
  /** Skills of the same id from sources with lower precedence, the highest first. */
  readonly replaces: readonly Skill[];
  readonly reasons: readonly Ineligibility[];
}

/** The skills of an agent and their problems. */
export interface Inventory {
  /** By precedence of their sources, the highest first, then by id. */
  readonly candidates: readonly Candidate[];
  readonly problems: readonly SkillProblem[];
  readonly unknown: readonly string[];
}

/**
 * Lists the skills of one agent.
 *
 * @param maxAgeMs maximum age of scans and checks, in milliseconds
 */
export async function takeInventory(
  context: InventoryContext,
  agent: AgentSkillsOptions,
  maxAgeMs: number,
): Promise<Inventory> {
  const { cache, approvals, pacer } = context;
  const own = agent.workspaceDir === undefined ? [] : workspaceSources(agent.workspaceDir);
  const sources = [...context.sources, ...own].sort((a, b) => getPrecedence(a.kind) - getPrecedence(b.kind));
  const skills: Skill[] = [];
  const problems: SkillProblem[] = [];
  for (const source of sources) {
    const scan = await cache.scan(source, maxAgeMs);
    skills.push(...scan.skills);
    problems.push(...scan.problems);
  }
  const lists = readLists(agent);
  const candidates: Candidate[] = [];
  for (const group of groupById(skills)) {
    // A skill that is waiting for approval does not hide an approved skill with the same name.
    for (const [index, skill] of group.entries()) {
      await pacer.pause();
      const unmet = findReasons(skill, context, agent, lists);
      const unapproved = await approvals?.check(skill, findSourceDir(skill, sources), maxAgeMs);
      const reasons = unapproved === undefined ? unmet : [...unmet, unapproved];
      candidates.push({ skill, replaces: group.slice(index + 1), reasons });
      if (unapproved === undefined) break;
    }
  }
  for (const { dir } of own) await approvals?.markKnown(dir);
  await pacer.pause();
  const ids = new Set(candidates.map(({ skill }) => skill.id));
  const names = new Set([...(agent.allow ?? []), ...(agent.deny ?? [])]);
  const unknown = [...names].filter((name) => !ids.has(toSkillId(name) ?? ""));
  return { candidates: candidates.sort(compareImportance), problems, unknown };
}

function findReasons(
  skill: Skill,
  { machine, entries }: InventoryContext,
  agent: AgentSkillsOptions,
  { allow, deny }: AgentLists,
): readonly Ineligibility[] {
  const { id } = skill;
  if (deny.has(id)) {
    return [{ requirement: "allowed", missing: [id], message: "The agent's configuration denies it." }];
  }
  if (allow !== undefined && !allow.has(id)) {
    return [{ requirement: "allowed", missing: [id], message: "It is not in the agent's list of skills." }];
  }
  if (entries.get(id)?.enabled === false) {
    const message = "It is disabled in the configuration.";
    return [{ requirement: "enabled", missing: [id], message }];
  }
  return findUnmetRequirements(skill, machine, {
    target: agent.target,
    given: getEnvironment(skill, entries),
  });
}

interface AgentLists {
  readonly allow: ReadonlySet<string | undefined> | undefined;
  readonly deny: ReadonlySet<string | undefined>;
}

/** Converts the names in an agent's lists to ids. */
function readLists({ allow, deny = [] }: AgentSkillsOptions): AgentLists {
  const toIds = (names: readonly string[]) => new Set(names.map((name) => toSkillId(name)));
  return { allow: allow && toIds(allow), deny: toIds(deny) };
}

/** Groups skills by id, the one with the highest precedence first. `skills` start with the lowest precedence. */
function groupById(skills: readonly Skill[]): Iterable<readonly Skill[]> {
  const groups = new Map<string, readonly Skill[]>();
  for (const skill of skills) groups.set(skill.id, [skill, ...(groups.get(skill.id) ?? [])]);
  return groups.values();
}

function findSourceDir(skill: Skill, sources: readonly SkillSource[]): string {
  return (
    sources.find(({ kind, dir }) => kind === skill.source && isInside(skill.dir, dir))?.dir ?? skill.root
  );
}

/** Sorts skills of higher precedence first. They are the last ones to be left out of a catalogue. */
function compareImportance({ skill: a }: Candidate, { skill: b }: Candidate): number {
  return getPrecedence(b.source) - getPrecedence(a.source) || (a.id < b.id ? -1 : 1);
}
