import { homedir } from "node:os";
import { shortPath, writeCatalogue } from "./catalogue.ts";
import { makeCommands } from "./commands.ts";
import { type Scan, SourceScanner } from "./discover.ts";
import { type Machine, unmet } from "./eligibility.ts";
import { diskFs } from "./fs.ts";
import { toSkillId } from "./names.ts";
import { comparePins, Pinner, SkillFolderError } from "./pin.ts";
import { rankOf, workspaceSources } from "./sources.ts";
import type {
  AgentSkills,
  AgentSkillsOptions,
  ExcludedSkill,
  Ineligibility,
  Skill,
  SkillPin,
  SkillReport,
  SkillSource,
  Skills,
  SkillsCheck,
  SkillsLoad,
  SkillsOptions,
} from "./types.ts";
import { createWhich } from "./which.ts";

/** A skill and those of the same id that it replaces, the nearest first. */
interface Merged {
  readonly skill: Skill;
  readonly replaces: readonly Skill[];
}

/** Finds skills. Reads nothing until it is asked. */
export function createSkills(options: SkillsOptions): Skills {
  const {
    fs = diskFs,
    env = process.env,
    platform = process.platform,
    home = homedir(),
    maxAgeMs = 1_000,
    now = Date.now,
  } = options;
  const machine: Machine = {
    env,
    platform,
    which: options.which ?? createWhich(env, platform, now),
    hasConfig: options.hasConfig ?? (() => false),
  };
  const off = new Set(
    Object.entries(options.entries ?? {}).flatMap(([name, { enabled }]) =>
      enabled === false ? [toSkillId(name)] : [],
    ),
  );
  const sources = inOrder(options.sources);
  const scanners = new Map<string, { scanner: SourceScanner; scan: Scan; at: number }>();
  const pinner = new Pinner(fs);
  let loaded: ReadonlyMap<string, Merged> = new Map();

  function scan(source: SkillSource, maxAge: number): Scan {
    const key = JSON.stringify([source.kind, source.dir, source.within ?? null]);
    const known = scanners.get(key);
    if (known !== undefined && Math.abs(now() - known.at) < maxAge) return known.scan;
    const scanner = known?.scanner ?? new SourceScanner(source, fs);
    const fresh = { scanner, scan: scanner.scan(), at: now() };
    scanners.set(key, fresh);
    return fresh.scan;
  }

  function merge(all: readonly SkillSource[], maxAge: number) {
    const scans = all.map((source) => scan(source, maxAge));
    const merged = new Map<string, Merged>();
    for (const skill of scans.flatMap(({ skills }) => skills)) {
      const before = merged.get(skill.id);
      merged.set(skill.id, { skill, replaces: before ? [before.skill, ...before.replaces] : [] });
    }
    return { merged, problems: scans.flatMap(({ problems }) => problems) };
  }

  function load(): SkillsLoad {
    const before = loaded;
    const { merged, problems } = merge(sources, 0);
    loaded = merged;
    const ids = [...merged.keys()].sort();
    return {
      added: ids.filter((id) => !before.has(id)),
      removed: [...before.keys()].filter((id) => !merged.has(id)).sort(),
      changed: ids.filter((id) => {
        const old = before.get(id)?.skill;
        const skill = merged.get(id)?.skill;
        return old !== undefined && (old.file !== skill?.file || old.version !== skill.version);
      }),
      problems,
    };
  }

  function ofAgent(agent: AgentSkillsOptions, maxAge: number) {
    const own = agent.workspaceDir === undefined ? [] : workspaceSources(agent.workspaceDir);
    const { merged, problems } = merge([...sources, ...own], maxAge);
    const idsOf = (names: readonly string[]) => new Set(names.map((name) => toSkillId(name)));
    const allow = agent.allow && idsOf(agent.allow);
    const deny = idsOf(agent.deny ?? []);
    const reasonsOf = (skill: Skill): readonly Ineligibility[] => {
      const { id } = skill;
      if (deny.has(id) || (allow !== undefined && !allow.has(id))) {
        const message = deny.has(id) ? "The agent is denied it." : "It is not in the agent's list.";
        return [{ requirement: "allowed", missing: [id], message }];
      }
      if (off.has(id)) {
        return [
          { requirement: "enabled", missing: [id], message: "It is switched off in the configuration." },
        ];
      }
      return [...unmet(skill, machine, agent.remote), ...pinReasons(skill, agent.pins?.get(id))];
    };
    const entries = [...merged.values()]
      .map((entry) => ({ ...entry, reasons: reasonsOf(entry.skill) }))
      .sort((a, b) => byImportance(a.skill, b.skill));
    const known = (name: string) => merged.has(toSkillId(name) ?? "");
    const unknown = [...new Set([...(agent.allow ?? []), ...(agent.deny ?? [])])].filter(
      (name) => !known(name),
    );
    return { entries, problems, unknown };
  }

  function pinReasons(skill: Skill, pin: SkillPin | undefined): readonly Ineligibility[] {
    if (pin === undefined) return [];
    try {
      const change = comparePins(pin, pinner.pin(skill.dir, skill.root));
      if (change === undefined) return [];
      const missing = [
        ...change.added.map((path) => `${path} added`),
        ...change.removed.map((path) => `${path} removed`),
        ...change.changed.map((path) => `${path} changed`),
      ];
      const message = `It is not as it was when it was approved: ${missing.join(", ")}.`;
      return [{ requirement: "pin", missing, message }];
    } catch (error) {
      if (!(error instanceof SkillFolderError)) throw error;
      return [{ requirement: "pin", missing: [skill.dir], message: error.message }];
    }
  }

  function forAgent(agent: AgentSkillsOptions = {}): AgentSkills {
    const { entries, problems, unknown } = ofAgent(agent, maxAgeMs);
    const skills = entries.filter(({ reasons }) => reasons.length === 0).map(({ skill }) => skill);
    const excluded = entries
      .filter(({ reasons }) => reasons.length > 0)
      .map(({ skill, reasons }): ExcludedSkill => ({ skill, reasons }));
    const locator = (places: ReadonlyMap<string, string> | undefined) => (skill: Skill) =>
      places?.get(skill.id) ?? shortPath(skill.file, agent.workspaceDir, home);
    return {
      skills,
      excluded,
      unknown,
      problems,
      catalogue: (how = {}) => {
        const listed = skills.filter((skill) => !skill.disableModelInvocation);
        return writeCatalogue(listed, locator(how.locations), agent.remote?.note, how);
      },
      commands: (how = {}) => makeCommands(skills, locator(how.locations), how),
    };
  }

  function check(agent: AgentSkillsOptions = {}): SkillsCheck {
    const { entries, problems, unknown } = ofAgent(agent, 0);
    const eligible = entries.filter(({ reasons }) => reasons.length === 0).map(({ skill }) => skill);
    const commands = new Map(
      makeCommands(eligible, ({ file }) => file, {}).map((one) => [one.skillId, one.name]),
    );
    const skills = entries.map(({ skill, replaces, reasons }): SkillReport => {
      const command = commands.get(skill.id);
      return {
        skill,
        eligible: reasons.length === 0,
        reasons,
        replaces: replaces.map(({ source, file }) => ({ source, file })),
        ...(command === undefined ? {} : { command }),
      };
    });
    const ok = unknown.length === 0 && problems.every(({ severity }) => severity === "warning");
    return { skills, problems, unknown, ok };
  }

  return {
    load,
    list: () => [...loaded.values()].map(({ skill }) => skill).sort((a, b) => (a.id < b.id ? -1 : 1)),
    forAgent,
    check,
    pin: (skill) => pinner.pin(skill.dir, skill.root),
  };
}

/** From the lowest precedence to the highest. */
function inOrder(sources: readonly SkillSource[]): readonly SkillSource[] {
  return [...sources].sort((a, b) => rankOf(a.kind) - rankOf(b.kind));
}

/** What stands nearer to the agent comes first, and is the last to be left out for want of space. */
function byImportance(a: Skill, b: Skill): number {
  return rankOf(b.source) - rankOf(a.source) || (a.id < b.id ? -1 : 1);
}
