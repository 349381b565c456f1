import { type Phrases, phrasesIn } from "@signalbox/phrases";
import type { AgentDetails, AgentPrompt, AgentSkill, AgentTool } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import { type AdminService, ApiError } from "@signalbox/server";
import type { SkillInstall } from "@signalbox/skills";
import { BUILT_IN_TOOLS, escapeInvisible, escapeLine, explainUse, type RunFacts } from "@signalbox/tools";
import type { Agent } from "../../configure/agents.ts";
import type { GatewayContext } from "../../context.ts";
import { listAgents } from "../list-agents.ts";
import { getAgentPrompt } from "./agent-prompt.ts";

type AgentAdmin = Pick<AdminService, "agent" | "agentPrompt">;

/** Describes agents: their tools and skills with the reasons, and their latest prompt. */
export function createAgentAdmin(ctx: GatewayContext): AgentAdmin {
  return {
    async agent(id, language) {
      const agent = getAgent(ctx, id);
      const info = listAgents(ctx.config).find((each) => each.id === agent.id);
      if (info === undefined) throw unknownAgent(id);
      const details: AgentDetails = {
        ...info,
        fallbacks: [...agent.fallbacks],
        workspace: agent.workspaceDir,
        tools: listTools(ctx, agent, phrasesIn(language)),
        skills: await listSkills(ctx, agent),
      };
      return details;
    },
    agentPrompt: async (id, withText) => {
      const prompt = await getAgentPrompt(ctx, getAgent(ctx, id).id);
      if (prompt === undefined)
        throw new ApiError("not_found", `None of the latest messages was answered by the agent ${id}.`, {
          remedy: "Send it a message first.",
        });
      return withText ? addTexts(ctx, id, prompt) : prompt;
    },
  };
}

/** Adds the texts of the sections, if the recorded prompt is the latest one in memory. */
function addTexts(
  { recentPrompts, redact }: GatewayContext,
  agent: string,
  prompt: AgentPrompt,
): AgentPrompt {
  const recent = prompt.sessionKey === undefined ? undefined : recentPrompts.get(agent, prompt.sessionKey);
  if (recent === undefined) return prompt;
  const sections = prompt.sections.map((section) => {
    const match = recent.find(({ name, chars }) => name === section.name && chars === section.chars);
    return match === undefined ? section : { ...section, text: escapeInvisible(redact(match.text)) };
  });
  return { ...prompt, sections };
}

/** @throws ApiError if there is no such agent */
export function getAgent({ config }: GatewayContext, id: string): Agent {
  const agent = config.current().agents.get(id);
  if (agent === undefined) throw unknownAgent(id);
  return agent;
}

function unknownAgent(id: string): ApiError {
  return new ApiError("not_found", `There is no agent ${id}.`);
}

/** Explains the policy's decision about each tool, for an owner on the page who has read nothing from others. */
function listTools({ config, mcp }: GatewayContext, agent: Agent, phrases: Phrases): AgentTool[] {
  const { plugins } = config.current();
  const facts: RunFacts = {
    agentId: agent.id,
    sessionKey: formatSessionKey({ kind: "direct", agentId: agent.id, channel: "web", peerId: "page" }),
    role: "owner",
    speaker: "web:owner",
    channelKind: "direct",
    models: [...(agent.model === undefined ? [] : [agent.model]), ...agent.fallbacks],
    taint: [],
  };
  const explain = (name: string, source: AgentTool["source"]): AgentTool[] => {
    const [plain] = explainUse(agent.tools, facts, name, phrases);
    if (plain === undefined) return [];
    const { decision, rule, reason } = plain.decision;
    return [{ name, source, decision, rule, reason }];
  };
  const ofServers = mcp.status().flatMap(({ tools }) => tools);
  return [
    ...BUILT_IN_TOOLS.flatMap((name) => explain(name, "built-in")),
    ...plugins.tools.flatMap(({ name }) => explain(name, "package")),
    ...ofServers.flatMap((name) => explain(name, "mcp")),
  ];
}

/** Lists all skills that an agent could use, with the reasons why it cannot use some of them. */
export async function listSkills({ config }: GatewayContext, agent: Agent): Promise<AgentSkill[]> {
  const { skills } = await config.current().skills.check(agent);
  return skills.map(({ skill, eligible, reasons }) => {
    const { id, description, source, version } = skill;
    const lacks = (...names: readonly string[]) =>
      reasons.some(({ requirement }) => names.includes(requirement));
    const isPending = lacks("pin");
    // `skills install` refuses skills that wait for approval.
    const installs = !isPending && lacks("bins", "anyBins") ? skill.install.filter(isForThisPlatform) : [];
    return {
      id,
      description: escapeLine(description),
      source,
      version,
      state: eligible ? "active" : isPending ? "pending" : "excluded",
      reasons: reasons.map(({ message }) => escapeLine(message)),
      install:
        installs.length === 0
          ? undefined
          : { command: `signalbox skills install ${id}`, methods: installs.map(describeInstall) },
    };
  });
}

function isForThisPlatform({ os }: SkillInstall): boolean {
  return os.length === 0 || os.includes(process.platform);
}

function describeInstall(install: SkillInstall): string {
  switch (install.kind) {
    case "brew":
      return `brew: ${install.formula}`;
    case "go":
      return `go: ${install.module}`;
    case "download":
      return `download: ${escapeLine(install.url)}`;
    default:
      return `${install.kind}: ${install.package}`;
  }
}
