import type { ConfiguredHome, MemoriesOfHome, MessagesWanted, SkillsOfAgent } from "@signalbox/cli";
import type { MessageInfo, Trace, TrustAnswer } from "@signalbox/client";
import { type Home, withDatabase } from "@signalbox/home";
import { OWNERS } from "@signalbox/memory/agents";
import { messageInfo, readTrace } from "@signalbox/service";
import { resolveAgents, resolveSkills } from "@signalbox/setup";
import { openStore } from "@signalbox/store";
import { createLogger } from "@signalbox/telemetry/logger";
import { createAgentWorkspaces, createLabelStore, createTrust, openFileLabels } from "@signalbox/tools";
import { listWakes, type PlannedWake } from "@signalbox/wakes";
import { ASSETS } from "../assets.ts";
import { createAgentMemories } from "../compose/memory.ts";
import type { GatewayBodies } from "../store.ts";

/** What the agents of a home remember, beside a gateway that may be running on it. */
export async function openMemories({ home, loaded, env }: ConfiguredHome): Promise<MemoriesOfHome> {
  const agents = resolveAgents(loaded, home);
  const store = await openStore<GatewayBodies>({ path: home.databaseFile, access: "read" });
  const logger = createLogger("warn", (text) => text);
  const memories = createAgentMemories({ config: loaded.config, home, env, store, now: Date.now, logger });
  return {
    ownersScope: OWNERS,
    async of(agentId) {
      const agent = agents.get(agentId);
      if (agent === undefined) throw new Error(`there is no agent ${agentId}`);
      return memories.of(agent);
    },
    async close() {
      await memories.close();
      await store.close();
    },
  };
}

/** What each agent of a home can use, and what is wrong with the rest. */
export async function readSkills({ home, loaded, env }: ConfiguredHome): Promise<SkillsOfAgent[]> {
  const agents = resolveAgents(loaded, home);
  const { skills, forAgent, pending, approve } = await resolveSkills({
    loaded,
    home,
    agents,
    env,
    bundledDir: ASSETS.skillsDir,
  });
  return Promise.all(
    agents.all.map(async (agent) => {
      const { allow, deny } = agent.skills;
      const { skills: usable } = await forAgent(agent);
      const check = await skills.check({ allow, deny, workspaceDir: agent.workspaceDir });
      return { agent: agent.id, usable, check, pending: await pending(agent), approve };
    }),
  );
}

/** Has an owner vouch for a file of an agent's workspace; no gateway may be running. */
export function trustFile(
  { home, loaded }: ConfiguredHome,
  agentId: string,
  path: string,
): Promise<TrustAnswer> {
  const agent = resolveAgents(loaded, home).get(agentId);
  if (agent === undefined) throw new Error(`there is no agent ${agentId}`);
  return withDatabase<GatewayBodies, TrustAnswer>(home, "share", async (store) => {
    const labels = await openFileLabels(createLabelStore(store.kv));
    const trusted = await createTrust(labels, createAgentWorkspaces({ forbidden: home.closed, labels }))(
      agent,
      path,
    );
    if (trusted.ok)
      await store.audit.append({
        at: Date.now(),
        kind: "approval",
        action: "trusted",
        actor: "command line",
        subject: `file: ${trusted.path}`,
        details: { agent: agentId },
      });
    return trusted;
  });
}

/** What is noted about a message, by the gateway's id or the platform's. */
export function traceIn(home: Home, id: string): Promise<Trace | undefined> {
  return withDatabase<GatewayBodies, Trace | undefined>(home, "read", (store) => readTrace(store, id));
}

/** The latest messages, the newest first. */
export function messagesIn(home: Home, wanted: MessagesWanted): Promise<MessageInfo[]> {
  return withDatabase<GatewayBodies, MessageInfo[]>(home, "read", async ({ inbox }) =>
    (await inbox.list(wanted)).map(messageInfo),
  );
}

/** What agents are to do by themselves, the soonest first. */
export function schedulesIn(home: Home): Promise<PlannedWake[]> {
  return withDatabase<GatewayBodies, PlannedWake[]>(home, "read", ({ kv }) => listWakes(kv));
}
