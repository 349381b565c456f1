import { homedir } from "node:os";
import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import type { Config, ConfigPath, LoadedConfig, Problem } from "@signalbox/config";
import { configuredPath, GatewayError, type Home } from "@signalbox/home";
import {
  type AgentSkills,
  createPathLookup,
  createSkills,
  type PendingSkill,
  type PinStore,
  type Skills,
  type SkillsCheck,
  type SkillTarget,
  standardSources,
} from "@signalbox/skills";
import { compareTexts, getCommandEnvironment } from "@signalbox/tools";
import type { Agent, Agents } from "./agents.ts";
import { sandboxSetting } from "./exec-sandbox.ts";

/** Time for which a scan and an agent's view of it are cached, in milliseconds. */
const MAX_AGE_MS = 500;

/** The skills of every agent. */
export interface AgentsSkills {
  readonly problems: readonly Problem[];
  /** Skill folders outside the workspaces. Agents may read them. */
  readonly dirs: readonly string[];
  /** Scans the skills if the last scan is too old. Slow scans are cached for longer. */
  forAgent(agent: Agent): Promise<AgentSkills>;
  /** Returns the skills of the last scan. */
  seen(agent: Agent): AgentSkills;
  /** Returns the skills of the last scan, and starts a new scan if it is too old. */
  latest(agent: Agent): AgentSkills;
  /** Scans again and returns all findings about an agent's skills. */
  check(agent: Agent): Promise<SkillsCheck>;
  /** Returns the skills that are waiting for an owner's approval. */
  pending(agent: Agent): Promise<readonly PendingSkill[]>;
  approve: Skills["approve"];
  /** Checks skills against the stored pins from now on. Pins none. */
  usePins(pins: PinStore): void;
  /**
   * Like {@link usePins}, and pins skills that are seen for the first time. Called by the gateway that holds the home.
   *
   * @throws GatewayError if the pins cannot be written
   */
  pinFirstSeen(pins: PinStore): Promise<void>;
}

export async function resolveSkills(options: {
  readonly loaded: LoadedConfig;
  readonly home: Home;
  readonly agents: Agents;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the bundled skills. */
  readonly bundledDir: string;
  /** Default: skills need no approval until {@link AgentsSkills.usePins} or `pinFirstSeen` is called. */
  readonly pins?: PinStore | undefined;
}): Promise<AgentsSkills> {
  const { loaded, home, agents, env, bundledDir } = options;
  const { load, entries } = loaded.config.skills;
  const sources = standardSources({
    signalboxHome: home.dir,
    home: env["HOME"] ?? homedir(),
    bundledDir,
    extraDirs: load.extraDirs.map((dir) => configuredPath(home, dir)),
  });
  let { pins } = options;
  let pinsFirstSeen = false;
  const skills = createSkills({
    sources,
    env,
    entries,
    maxAgeMs: MAX_AGE_MS,
    pins: {
      store: () => pins,
      compare: (texts) => compareTexts(texts, { role: "owner" }),
    },
    pinsFirstSeen: () => pinsFirstSeen,
    hasConfig: (key) => isSet(loaded.config, key),
  });
  const latest = new Map<string, { readonly skills: AgentSkills; readonly at: number }>();
  const target = getSkillTarget(loaded.config, home);
  const optionsOf = ({ skills: { allow, deny }, workspaceDir }: Agent) => {
    return { allow, deny, workspaceDir, target };
  };
  const look = async (agent: Agent): Promise<AgentSkills> => {
    const at = Date.now();
    const usable = await skills.forAgent(optionsOf(agent));
    latest.set(agent.shardId, { skills: usable, at });
    return usable;
  };
  const forAgent = async (agent: Agent): Promise<AgentSkills> => {
    const last = latest.get(agent.shardId);
    const isFresh = last !== undefined && Math.abs(Date.now() - last.at) < MAX_AGE_MS;
    return isFresh ? last.skills : look(agent);
  };
  const pending = async (agent: Agent): Promise<readonly PendingSkill[]> => {
    const waiting = await skills.pending(optionsOf(agent));
    await look(agent);
    return waiting;
  };
  const seen = (agent: Agent): AgentSkills => latest.get(agent.shardId)?.skills ?? NO_SKILLS;
  // Agents that are split have skills in the workspaces of their shards.
  const folders = new Set([...agents.all, ...agents.shards]);
  for (const agent of folders) await look(agent);
  const problems = [...folders].flatMap((agent) => unknownSkills(loaded, home, agent, seen(agent)));
  return {
    problems,
    dirs: sources.map((source) => source.dir),
    forAgent,
    seen,
    check: (agent) => skills.check(optionsOf(agent)),
    pending,
    async approve(shown, by) {
      const isApproved = await skills.approve(shown, by);
      for (const agent of folders) await look(agent);
      return isApproved;
    },
    usePins(stored) {
      pins = stored;
    },
    async pinFirstSeen(stored) {
      pins = stored;
      pinsFirstSeen = true;
      try {
        for (const agent of folders) await pending(agent);
      } catch (error) {
        throw new GatewayError(
          "cannot_write",
          `Skills cannot be pinned in ${home.databaseFile}: ${reasonOf(error)}. Check that the disk has space.`,
          { cause: error },
        );
      }
    },
    latest(agent) {
      // If a scan fails, the earlier result stays in use, and the next caller gets the error.
      forAgent(agent).catch(() => undefined);
      return seen(agent);
    },
  };
}

function unknownSkills(
  loaded: LoadedConfig,
  home: Home,
  agent: Agent,
  { unknown, skills }: AgentSkills,
): Problem[] {
  const ids = skills.map((skill) => skill.id).join(", ");
  const usable = ids === "" ? "" : ` Usable now: ${ids}.`;
  return unknown.map((name) =>
    loaded.problem(findSetting(loaded, agent.id, name), {
      severity: "error",
      message: `agent ${agent.id} refers to the skill ${name}, which does not exist`,
      remedy: `Correct the name, or create the skill in ${join(home.skillsDir, name, "SKILL.md")}.${usable}`,
      disables: `skill ${name} of agent ${agent.id}`,
    }),
  );
}

/** Returns the path of the setting that lists a skill, in the agent's own list or the defaults. */
function findSetting({ config }: LoadedConfig, agentId: string, name: string): ConfigPath {
  const { defaults, list } = config.agents;
  const index = list.findIndex(({ id }) => id === agentId);
  const own: ConfigPath = ["agents", "list", index, "skills"];
  const places = [
    { path: own, lists: list[index]?.skills },
    { path: ["agents", "defaults", "skills"], lists: defaults.skills },
  ].flatMap(({ path, lists }) => [
    { path: [...path, "allow"], names: lists?.allow ?? [] },
    { path: [...path, "deny"], names: lists?.deny ?? [] },
  ]);
  return places.find(({ names }) => names.includes(name))?.path ?? own;
}

/**
 * Returns the environment of skills' commands. Their programs and variables differ from the gateway's own. Returns
 * undefined if commands cannot run.
 */
function getSkillTarget(config: Config, { programsDir }: Home): SkillTarget | undefined {
  const setting = sandboxSetting(config);
  const env = getCommandEnvironment(setting, programsDir);
  if (env === undefined) return undefined;
  const name = setting === "none" ? "the path of commands" : "the sandbox of commands";
  const { platform } = process;
  return { name, platforms: [platform], env, hasBin: createPathLookup(env, platform, Date.now) };
}

/** Skills of an agent that was added after the last scan. */
const NO_SKILLS: AgentSkills = {
  environment: () => ({}),
  skills: [],
  active: [],
  excluded: [],
  unknown: [],
  problems: [],
  catalogue: async () => ({ text: "", included: [], omitted: [], version: "" }),
  commands: () => [],
};

/** Returns true if a dotted configuration key has a value other than false. */
function isSet(config: Config, key: string): boolean {
  const value = key.split(".").reduce<unknown>((parent, name) => {
    const fields =
      typeof parent === "object" && parent !== null ? new Map(Object.entries(parent)) : undefined;
    return fields?.get(name);
  }, config);
  return value !== undefined && value !== null && value !== false && value !== "";
}
