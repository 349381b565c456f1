import { existsSync } from "node:fs";
import type { MessageEvent } from "@signalbox/channel";
import type { ConfiguredHome, UseAnswer, UseAsked } from "@signalbox/cli";
import { withDatabase } from "@signalbox/home";
import { createBotLoops, createGate, createRouter } from "@signalbox/routing";
import {
  type Agent,
  type Agents,
  namesFor,
  resolveAgents,
  resolvePluginTools,
  routingConfig,
} from "@signalbox/setup";
import { checkToolNames, explainUse, type RunFacts } from "@signalbox/tools";
import { type Admitted, createAdmit } from "../path/2-admit/admit.ts";
import { INSTALLED } from "../resolve/installed.ts";
import type { GatewayBodies } from "../store.ts";
import { speakerOf } from "../tools/tool-run.ts";

/** What somebody may do, and by which rules: asked of the code that decides about messages and calls. */
export async function canUse(configured: ConfiguredHome, asked: UseAsked): Promise<UseAnswer> {
  const { home, loaded } = configured;
  const agents = resolveAgents(loaded, home);
  const plugins = await resolvePluginTools({ loaded, home, given: [], packages: INSTALLED });
  const [unknown] = checkToolNames([asked.tool], namesFor(loaded, plugins));
  if (unknown !== undefined) {
    const near = unknown.near.length === 0 ? "" : ` Did you mean ${unknown.near.join(" or ")}?`;
    throw new Error(`There is no tool ${asked.tool}.${near}`);
  }
  const event = messageOf(asked);
  const { place, decision } = await admitted(configured, agents, event);
  const agent = agents.get(place.agentId);
  const gate = { kind: decision.kind, rule: decision.rule };
  if (agent === undefined || decision.kind !== "answer") return { agent: place.agentId, gate, uses: [] };
  const { role } = decision;
  return { agent: agent.id, gate, role, uses: usesOf(agent, event, place.sessionKey, role, asked.tool) };
}

/** Before the run has seen anything of others, and after. */
function usesOf(
  agent: Agent,
  event: MessageEvent,
  sessionKey: string,
  role: RunFacts["role"],
  tool: string,
): UseAnswer["uses"] {
  const models = [...(agent.model === undefined ? [] : [agent.model]), ...agent.fallbacks];
  const channelKind = event.conversation.kind;
  return [false, true].flatMap((tainted) => {
    const taint = tainted ? [{ source: "other", detail: "others" } as const] : [];
    const facts = {
      agentId: agent.id,
      sessionKey,
      role,
      speaker: speakerOf(event),
      channelKind,
      models,
      taint,
    };
    return explainUse(agent.tools, facts, tool).map(({ reachesFor, decision }) => ({
      tainted,
      ...(reachesFor === undefined ? {} : { reachesFor }),
      ...decision,
    }));
  });
}

async function admitted(
  { home, loaded }: ConfiguredHome,
  agents: Agents,
  event: MessageEvent,
): Promise<Admitted> {
  const { config } = loaded;
  const isApproved = async (...person: [channel: string, account: string, id: string]): Promise<boolean> =>
    existsSync(home.databaseFile) &&
    withDatabase<GatewayBodies, boolean>(home, "read", ({ pairing }) => pairing.isApproved(...person));
  const admit = createAdmit({
    router: createRouter(routingConfig(config, agents)),
    bindings: () => config.bindings,
    gate: createGate(config.access),
    botLoops: createBotLoops(Date.now),
    pairing: { isApproved },
    definition: () => undefined,
  });
  return admit(event);
}

/** A message that this person could write there, addressed to the agent. */
function messageOf({ sender, group, account }: UseAsked): MessageEvent {
  const [channel = "", id = ""] = parted(sender);
  const place = group === undefined ? undefined : parted(group)[1];
  return {
    type: "message",
    eventId: "can",
    messageId: "can",
    channel,
    account,
    timestamp: 0,
    address: "",
    conversation: place === undefined ? { kind: "direct", id } : { kind: "group", id: place },
    sender: { id, isBot: false, isSelf: false },
    addressed: place === undefined ? "dm" : "mention",
    text: "",
    media: [],
    mentions: [],
  };
}

/** `channel:id`; ids may have colons themselves. */
function parted(text: string): readonly string[] {
  const end = text.indexOf(":");
  if (end < 1 || end === text.length - 1)
    throw new Error(`Write ${text} as channel:id, such as feishu:ou_1.`);
  return [text.slice(0, end), text.slice(end + 1)];
}
