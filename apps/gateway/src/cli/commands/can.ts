import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import { didYouMean } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import { getGroupIds } from "@signalbox/routing";
import { explainUse, findUnknownToolNames, listToolNames, type RunFacts } from "@signalbox/tools";
import { type Agent, getWorkspaces, resolveAgents } from "../../configure/agents.ts";
import { resolvePluginTools } from "../../configure/plugin-tools.ts";
import { createAdmissionInput } from "../../configure/routing.ts";
import { namesFor } from "../../configure/tool-names.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { decideAt } from "../home-decision.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { print } from "../output.ts";

type CanOptions = CommonOptions & { readonly in?: string; readonly account: string };

/** A person and the tool that they want to use. */
interface UseAsked {
  /** Sender as `channel:id`. */
  readonly sender: string;
  readonly tool: string;
  /** The account of the channel, which is the bot that receives the message. */
  readonly account: string;
  /** Group as `channel:id`. Absent for a direct conversation. */
  readonly group?: string;
}

interface UseAnswer {
  readonly agent: string;
  /** Result of the admission check for a message in this conversation. */
  readonly admission: { readonly kind: string; readonly rule: string };
  /** Absent if the sender gets no answer. */
  readonly role?: string;
  readonly uses: readonly {
    /** True if the run has read content from other people. */
    readonly tainted: boolean;
    /** Path or host that the call accesses. */
    readonly reachesFor?: string;
    readonly decision: "allow" | "ask" | "deny";
    readonly rule: string;
    readonly reason: string;
  }[];
}

/**
 * `signalbox can <sender> <tool>`: prints whether a person may use a tool and the rule that decides this. The exit code
 * is 1 if the person may not.
 */
export async function can(
  sender: string,
  tool: string,
  options: CanOptions,
  host: GatewayHost,
): Promise<void> {
  const { in: group, account } = options;
  const asked = { sender, tool, account, group };
  const answer = await canUse(configuredHome(options), asked, host);
  print(options.json, answer, () => formatLines(answer, sender, tool));
  if (!answer.uses.some(({ decision }) => decision !== "deny"))
    throw new GatewayError("failure", `${sender} cannot use ${tool} there.`);
}

function formatLines({ agent, admission, role, uses }: UseAnswer, sender: string, tool: string): string[] {
  if (role === undefined) {
    const instead = admission.kind === "pair" ? ", but sends a pairing code" : "";
    return [`${agent} does not answer ${sender}${instead} (${admission.rule}).`];
  }
  const lines = uses.map(({ tainted, reachesFor, decision, rule, reason }) => {
    const when = tainted ? "after untrusted content" : "at first";
    const what = reachesFor === undefined ? tool : `${tool}, to ${reachesFor}`;
    return `${decision.padEnd(5)} ${what}, ${when} (${rule}): ${reason}`;
  });
  return [`${agent} answers ${sender} as ${role} (${admission.rule}).`, ...lines];
}

/** Explains what a person may do and which rules apply. Uses the gateway's own admission and policy code. */
async function canUse(configured: ConfiguredHome, asked: UseAsked, host: GatewayHost): Promise<UseAnswer> {
  const { home, loaded } = configured;
  const workspaces = getWorkspaces(home, resolveAgents(loaded, home));
  const plugins = await resolvePluginTools({ loaded, home, given: [], packages: host.packages, workspaces });
  const known = namesFor(loaded, plugins);
  const [unknown] = findUnknownToolNames([asked.tool], known);
  if (unknown !== undefined) {
    const suggestion = didYouMean(unknown, listToolNames(known));
    throw new GatewayError("usage", `There is no tool ${asked.tool}. ${suggestion}`.trimEnd());
  }
  const event = messageFrom(asked);
  const { agentId, sessionKey, decision } = await decideAt(configured, event);
  const agent = resolveAgents(loaded, home).get(agentId);
  const admission = { kind: decision.kind, rule: decision.rule };
  if (agent === undefined || decision.kind !== "answer") return { agent: agentId, admission, uses: [] };
  const { role } = decision;
  return { agent: agent.id, admission, role, uses: decideUses(agent, event, sessionKey, role, asked.tool) };
}

/** Returns the decisions for an untainted and a tainted run. */
function decideUses(
  agent: Agent,
  event: MessageEvent,
  sessionKey: string,
  role: RunFacts["role"],
  tool: string,
): UseAnswer["uses"] {
  const models = [...(agent.model === undefined ? [] : [agent.model]), ...agent.fallbacks];
  const channelKind = event.conversation.kind;
  return [false, true].flatMap((tainted) => {
    const taint = tainted ? [{ source: "web" } as const] : [];
    const facts = {
      agentId: agent.id,
      sessionKey,
      role,
      speaker: getSpeakerKey(event),
      channelKind,
      ...(channelKind === "direct" ? {} : { groups: getGroupIds(createAdmissionInput(event, {})) }),
      models,
      taint,
    };
    return explainUse(agent.tools, facts, tool).map(({ claim, decision }) => ({
      tainted,
      reachesFor: claim,
      ...decision,
    }));
  });
}

/** Creates a message from this person, addressed to the agent. */
function messageFrom({ sender, group, account }: UseAsked): MessageEvent {
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

/** Splits `channel:id`. The id may contain colons. */
function parted(text: string): readonly string[] {
  const end = text.indexOf(":");
  if (end < 1 || end === text.length - 1)
    throw new GatewayError("usage", `Write ${text} as channel:id, such as feishu:ou_1.`);
  return [text.slice(0, end), text.slice(end + 1)];
}
