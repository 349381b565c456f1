import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { DeliveryMessage } from "@signalbox/delivery";
import type { Role } from "@signalbox/routing";
import type { Bodies, SqliteStore } from "@signalbox/store";
import type { Approval, TaintSource } from "@signalbox/tools";

/** An inbound message as the inbox keeps it: all that a run after a restart needs. */
export interface InboundRecord {
  /** `messageId` is empty where the platform has no message to answer: for a command of its own. */
  readonly event: MessageEvent;
  readonly role: Role;
  /** The rule that let it in. */
  readonly rule: string;
  /** Present where nobody wrote it: the gateway itself has woken an agent. */
  readonly wake?: WakeTerms;
}

/** On what terms the gateway wakes an agent: it speaks for somebody, and may less than they may. */
export interface WakeTerms {
  readonly agentId: string;
  readonly sessionKey: string;
  /** The most that its run may do; less where whoever it speaks for may less by now. */
  readonly atMost: Role;
  /** Present where one session gives work to another, or reports on it: a model has written the words. */
  readonly delegated?: Delegated;
  /** Present in the session of a sub-agent. */
  readonly subAgent?: SubAgentTerms;
}

interface Delegated {
  /** What tainted the run that wrote them. */
  readonly taint: readonly TaintSource[];
  /** The message that began it all, over any number of sub-agents. */
  readonly chain: string;
}

/** A sub-agent uses at most the tools of the run that made it, and nobody but that one's session hears what it says. */
export interface SubAgentTerms {
  readonly id: string;
  readonly depth: number;
  readonly tools: readonly string[];
}

/** What the gateway keeps in the store. */
export interface GatewayBodies extends Bodies {
  readonly message: AgentMessage;
  readonly inbound: InboundRecord;
  readonly outbound: DeliveryMessage;
  readonly approval: Approval;
}

export type GatewayStore = SqliteStore<GatewayBodies>;

/** Whether a message came in through this conversation; a platform's ids alone do not say where they lead. */
export async function isOfConversation(
  store: Pick<GatewayStore, "inbox">,
  { channel, account, conversation }: Pick<MessageEvent, "channel" | "account" | "conversation">,
  messageId: string,
): Promise<boolean> {
  const found = await store.inbox.find({ channel, account, messageId });
  return found?.conversationId === conversation.id;
}
