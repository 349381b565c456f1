import { existsSync, realpathSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { basename, dirname, join } from "node:path";
import type { RunLimits, ThinkingLevel } from "@signalbox/agent-core";
import type { AgentConfig, Config, LoadedConfig, Problem } from "@signalbox/config";
import { configuredPath, folderFault, type Home } from "@signalbox/home";
import type { Language } from "@signalbox/phrases";
import type { AskMode, ToolPolicy } from "@signalbox/tools";
import { ASSETS } from "../assets.ts";
import { getShardIndex, splitAgent } from "./shards.ts";

/** An agent with all defaults applied. */
export interface Agent {
  readonly id: string;
  readonly name: string;
  /** Model as `provider/model`. Absent if the configuration specifies none. */
  readonly model: string | undefined;
  readonly fallbacks: readonly string[];
  readonly thinking: ThinkingLevel;
  readonly systemPrompt: string | undefined;
  /** Language of the initial files in the workspace. If absent, the machine's language is used. */
  readonly language: Language | undefined;
  /** The answers that are also sent as a voice message, unless the sender has chosen otherwise. */
  readonly speech: SpeechMode;
  readonly maxOutputTokens: number | undefined;
  /** Number of recent turns to send to the model. If absent, all turns are sent. */
  readonly historyTurns: number | undefined;
  readonly workspaceDir: string;
  /** Number of shards. 1 if the sessions of the agent are not split. */
  readonly shards: number;
  /** The agent's id, followed by `#` and the number of the shard if this is one. Names the seat and the memory. */
  readonly shardId: string;
  /** Labels of the nodes that may run the agent. If absent, any node may. */
  readonly nodes: readonly string[] | undefined;
  readonly tools: ToolPolicy & {
    readonly allow: readonly string[];
    readonly deny: readonly string[];
    /** Hosts that the agent's commands may reach if the policy allows it. */
    readonly domains: readonly string[];
    readonly askModes: Readonly<Record<string, AskMode>>;
  };
  /** Names of skills. If `allow` is absent, all skills are allowed. */
  readonly skills: { readonly allow: readonly string[] | undefined; readonly deny: readonly string[] };
  readonly limits: RunLimits;
  /** Sub-agents that the agent may start, with their limits. */
  readonly subAgents: SubAgentSettings;
  /** If absent, the agent has no heartbeat. */
  readonly heartbeat: Heartbeat | undefined;
}

/** The answers that are spoken: none, those to a voice message, or all. */
export type SpeechMode = NonNullable<AgentConfig["speech"]>;

/** See `agents.*.subagents` in the configuration. */
export interface SubAgentSettings {
  readonly maxDepth: number;
  readonly maxAtOnce: number;
  readonly maxTasks: number;
  /** Limits of a sub-agent's runs. None exceeds the agent's own. */
  readonly limits: RunLimits;
}

/** Times at which an agent processes `HEARTBEAT.md` in its workspace. */
export interface Heartbeat {
  /** Interval as a duration, for example `30m`. */
  readonly every: string;
  /** Active hours, for example from `08:30`. They may extend past midnight. If absent, always active. */
  readonly activeHours: ActiveHours | undefined;
  /** Target of heartbeat messages: a separate session on the web page, or the session to which an owner last wrote. */
  readonly to: "page" | "owner";
}

export interface ActiveHours {
  readonly from: string;
  readonly to: string;
  /** Time zone of the active hours. If absent, the machine's time zone is used. */
  readonly zone?: string | undefined;
}

/** The usable agents, and the problems of the others. */
export interface Agents {
  readonly all: readonly Agent[];
  /** The agent for messages that match no binding. It may be unusable. */
  readonly defaultId: string;
  readonly problems: readonly Problem[];
  get(id: string): Agent | undefined;
  /** All agents, with the shards of those that are split in their place. */
  readonly shards: readonly Agent[];
  /** Returns the agent or shard with this `shardId`. */
  getShard(shardId: string): Agent | undefined;
  /**
   * Returns the agent of a session, as the shard to which the session belongs.
   *
   * @param sessionKey absent for work that belongs to no session. The first shard does it.
   */
  at(agentId: string, sessionKey?: string): Agent | undefined;
}

/** Default tools of an agent: files in its workspace, messages and memory, but no commands. */
const DEFAULT_TOOLS = ["read", "write", "edit", "ls", "message", "group:memory"];

/**
 * Applies defaults and creates workspaces. Workspaces in the home are created at startup, but configured ones must
 * exist. Agents with an unusable workspace are omitted and reported.
 */
export function resolveAgents(loaded: LoadedConfig, home: Home): Agents {
  const { defaults, list } = loaded.config.agents;
  const groups = getGroupToolRules(loaded.config);
  const problems: Problem[] = [];
  const all: Agent[] = [];
  for (const [index, config] of list.entries()) {
    const workspaceDir =
      config.workspaceDir === undefined
        ? home.workspace(config.id)
        : configuredPath(home, config.workspaceDir);
    const fault = workspaceFault(home, workspaceDir, config.workspaceDir === undefined);
    if (fault !== undefined) {
      problems.push(
        loaded.problem(["agents", "list", index, "workspaceDir"], {
          severity: "error",
          message: `the workspace ${workspaceDir} ${fault}`,
          remedy: "Create the folder and make it writable for the gateway's user, or choose another one.",
          disables: `agent ${config.id}`,
        }),
      );
      continue;
    }
    all.push({
      id: config.id,
      name: config.name ?? config.id,
      model: config.model ?? defaults.model,
      fallbacks: config.fallbacks ?? defaults.fallbacks ?? [],
      thinking: config.thinking ?? defaults.thinking ?? "off",
      systemPrompt: config.systemPrompt ?? defaults.systemPrompt,
      language: config.language ?? defaults.language,
      speech: config.speech ?? defaults.speech ?? "never",
      maxOutputTokens: config.maxOutputTokens ?? defaults.maxOutputTokens,
      historyTurns: config.historyTurns ?? defaults.historyTurns,
      workspaceDir,
      shards: config.shards ?? 1,
      shardId: config.id,
      nodes: config.nodes,
      tools: { ...resolveTools(config.tools, defaults.tools, loaded.config.tools.exec), groups },
      skills: {
        allow: config.skills?.allow ?? defaults.skills?.allow,
        deny: config.skills?.deny ?? defaults.skills?.deny ?? [],
      },
      limits: resolveLimits({ ...defaults.limits, ...config.limits }),
      subAgents: resolveSubAgents(config, defaults),
      heartbeat: resolveHeartbeat(config.heartbeat, defaults.heartbeat),
    });
  }
  const chosen = list.find((agent) => agent.default === true) ?? list[0];
  return { defaultId: chosen?.id ?? "main", problems, ...indexAgents(all) };
}

/** Returns the functions that find agents and shards. */
export function indexAgents(all: readonly Agent[]): Omit<Agents, "defaultId" | "problems"> {
  const byId = new Map(all.map((agent) => [agent.id, { agent, shards: splitAgent(agent) }]));
  const shards = [...byId.values()].flatMap((each) => each.shards);
  const byShardId = new Map(shards.map((shard) => [shard.shardId, shard]));
  return {
    all,
    shards,
    get: (id) => byId.get(id)?.agent,
    getShard: (shardId) => byShardId.get(shardId),
    at(agentId, sessionKey) {
      const found = byId.get(agentId);
      const index =
        sessionKey === undefined || found === undefined ? 0 : getShardIndex(sessionKey, found.agent.shards);
      return found?.shards[index];
    },
  };
}

type ExecConfig = Config["tools"]["exec"];

/**
 * Merges tool settings. The agent's values take precedence over the defaults. A profile and a list from the same level
 * belong together.
 */
function resolveTools(
  own: AgentConfig["tools"],
  defaults: AgentConfig["tools"],
  exec: ExecConfig,
): Agent["tools"] {
  const lists = [own, defaults].find(
    (tools) => tools?.allow !== undefined || tools?.profile !== undefined,
  ) ?? { allow: DEFAULT_TOOLS };
  const profile = lists.profile === undefined ? [] : [`profile:${lists.profile}`];
  const roles = own?.roles ?? defaults?.roles;
  const channelKinds = own?.conversations ?? defaults?.conversations;
  const models = own?.models ?? defaults?.models;
  return {
    allow: [...profile, ...(lists.allow ?? [])],
    deny: own?.deny ?? defaults?.deny ?? [],
    domains: own?.domains ?? defaults?.domains ?? exec.domains,
    askModes: { exec: exec.ask, process: exec.ask, ...(own?.ask ?? defaults?.ask) },
    roles,
    channelKinds,
    models,
  };
}

/** Returns the tool rules of groups. They apply to every agent. */
function getGroupToolRules({ access }: Config): Agent["tools"]["groups"] {
  const rules = Object.entries(access.groups.rules).flatMap(([id, { tools }]) =>
    tools === undefined ? [] : [[id, tools] as const],
  );
  return rules.length === 0 ? undefined : Object.fromEntries(rules);
}

/** Heartbeats are off by default, because each one costs a model call. */
function resolveHeartbeat(
  own: AgentConfig["heartbeat"],
  defaults: AgentConfig["heartbeat"],
): Heartbeat | undefined {
  const { enabled = true, every = "30m", activeHours, to = "page" } = { ...defaults, ...own };
  return enabled ? { every, activeHours, to } : undefined;
}

function resolveSubAgents(own: AgentConfig, defaults: Omit<AgentConfig, "id">): SubAgentSettings {
  const { maxDepth = 1, maxAtOnce = 4, maxTasks = 20 } = { ...defaults.subagents, ...own.subagents };
  const limits = resolveLimits({ ...defaults.limits, ...own.limits });
  const theirs = resolveLimits({ ...defaults.subagents?.limits, ...own.subagents?.limits });
  return { maxDepth, maxAtOnce, maxTasks, limits: tighterLimits(limits, theirs) };
}

function tighterLimits(one: RunLimits, other: RunLimits): RunLimits {
  const least = (name: "turns" | "toolCalls" | "wallMs" | "outputTokens" | "costMicros") => {
    const given = [one[name], other[name]].filter((limit) => limit !== undefined);
    return given.length === 0 ? undefined : Math.min(...given);
  };
  return resolveLimits({
    turns: least("turns"),
    toolCalls: least("toolCalls"),
    wallMs: least("wallMs"),
    outputTokens: least("outputTokens"),
    costMicros: least("costMicros"),
  });
}

/** Returns the limits that are set. */
function resolveLimits({
  turns,
  toolCalls,
  wallMs,
  outputTokens,
  costMicros,
}: NonNullable<AgentConfig["limits"]>): RunLimits {
  return {
    turns,
    toolCalls,
    wallMs,
    outputTokens,
    costMicros,
  };
}

function workspaceFault(home: Home, dir: string, ours: boolean): string | undefined {
  if (!ours && !existsSync(dir)) return "does not exist";
  return homeFault(home, dir) ?? programFault(dir) ?? folderFault(dir);
}

/** Returns all folders that agents write to. */
export function getWorkspaces(home: Home, agents: Agents): string[] {
  return [home.workspacesDir, ...agents.all.map(({ workspaceDir }) => workspaceDir)];
}

/**
 * Rejects workspaces that contain the gateway's own files, because agents must not write its configuration, skills or
 * state.
 */
function homeFault(home: Home, dir: string): string | undefined {
  const place = realFolder(dir);
  const [own, workspaces] = [realFolder(home.dir), realFolder(home.workspacesDir)];
  if (isInside(own, place)) return `is or contains the gateway's home ${home.dir}`;
  if (isInside(place, own) && (place === workspaces || !isInside(place, workspaces)))
    return `is in the gateway's home ${home.dir}, but not in a folder of ${home.workspacesDir}`;
  return undefined;
}

/** Rejects workspaces that contain the running program or are inside it. */
function programFault(dir: string): string | undefined {
  const place = realFolder(dir);
  const own = programFolders().find((folder) => isInside(folder, place) || isInside(place, folder));
  return own === undefined ? undefined : `contains the program of the gateway in ${own}, or lies in it`;
}

/**
 * Returns the folders of the running program. For an installed program, this includes its whole node_modules folder.
 */
function programFolders(): string[] {
  const own = dirname(ASSETS.program);
  const [installed = "", ...inside] = own.split(/(?<=\/node_modules)\//);
  const compiled = getCompileCacheDir();
  const program = inside.length > 0 ? installed : own;
  return [program, ...(compiled === undefined ? [] : [realFolder(compiled)])];
}

/** Resolves symbolic links in a path that may not exist yet. */
function realFolder(dir: string): string {
  const above = dirname(dir);
  return existsSync(dir) || above === dir ? realpathSync(dir) : join(realFolder(above), basename(dir));
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
