import { homedir } from "node:os";
import { join } from "node:path";
import type { LoadedConfig, Problem } from "@signalbox/config";
import { type AgentSkills, createSkills, type SkillSource, type Skills } from "@signalbox/skills";
import { type Agent, type Agents, allowPath } from "./agents.ts";
import { ASSETS } from "./assets.ts";
import { configuredPath, type Home } from "./home.ts";

/** The skills of every agent. */
export interface AgentsSkills {
  readonly problems: readonly Problem[];
  readonly skills: Skills;
  /** Folders outside the workspaces that hold skills; agents may read there. */
  readonly dirs: readonly string[];
  forAgent(agent: Agent): AgentSkills;
  /** What the agent's prompt says of its skills; at most a second old. */
  catalogue(agent: Agent): string;
}

const CATALOGUE_AGE_MS = 1_000;

export function resolveSkills(options: {
  readonly loaded: LoadedConfig;
  readonly home: Home;
  readonly agents: Agents;
  readonly env: Readonly<Record<string, string | undefined>>;
}): AgentsSkills {
  const { loaded, home, agents, env } = options;
  const { load, entries } = loaded.config.skills;
  const sources: SkillSource[] = [
    ...load.extraDirs.map((dir): SkillSource => ({ kind: "extra", dir: configuredPath(home, dir) })),
    { kind: "bundled", dir: ASSETS.skillsDir },
    { kind: "managed", dir: home.skillsDir },
    { kind: "personal", dir: join(env["HOME"] ?? homedir(), ".agents", "skills") },
  ];
  const skills = createSkills({ sources, env, entries });
  const forAgent = ({ skills: { allow, deny }, workspaceDir }: Agent): AgentSkills =>
    skills.forAgent({ allow, deny, workspaceDir });
  const problems = agents.all.flatMap((agent) => {
    const { unknown, skills: usable } = forAgent(agent);
    const known = usable.map((skill) => skill.id).join(", ");
    return unknown.map((name) =>
      loaded.problem(allowPath(loaded, agent.id, "skills"), {
        severity: "error",
        message: `agent ${agent.id} names the skill ${name}, which does not exist`,
        remedy: `Correct the name, or put it into ${join(home.skillsDir, name, "SKILL.md")}.${known === "" ? "" : ` Usable now: ${known}.`}`,
        disables: `skill ${name} of agent ${agent.id}`,
      }),
    );
  });
  const catalogues = new Map<string, { readonly text: string; readonly at: number }>();
  return {
    problems,
    skills,
    dirs: sources.map((source) => source.dir),
    forAgent,
    catalogue(agent) {
      const known = catalogues.get(agent.id);
      const at = performance.now();
      if (known !== undefined && at - known.at < CATALOGUE_AGE_MS) return known.text;
      const { text } = forAgent(agent).catalogue();
      catalogues.set(agent.id, { text, at });
      return text;
    },
  };
}
