import type { RemainingBudget } from "@signalbox/budgets";
import type { ChannelDefinition } from "@signalbox/channel";
import type { QueueModes, StopResult } from "@signalbox/lanes";
import type { Phrases } from "@signalbox/phrases";
import { type Role, tokenOfHolder } from "@signalbox/routing";
import type { SkillCommand } from "@signalbox/skills";
import type { InboxId } from "@signalbox/store";
import type { Auditor } from "@signalbox/store/audit";
import type { Approvals, Trust, UserQuestions } from "@signalbox/tools";
import type { SubAgentsPort } from "../api/made-sub-agents.ts";
import type { PlacedMessage, ServiceStore, StoredMessage } from "../api/service-store.ts";
import type { ExplainRoute } from "../api/traces.ts";
import type { Agent } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import type { SkillChangesPorts } from "./skill-changes.ts";

/** What commands look at and change. */
export interface AnswerOptions extends SkillChangesPorts {
  /** Of the host, as its people are told it. */
  readonly version: string;
  readonly store: ServiceStore;
  readonly models: Pick<Models, "of" | "offered">;
  readonly approvals: Pick<Approvals, "list"> & {
    resolve(id: string, decision: Decision, approver: string): ReturnType<Approvals["resolve"]>;
  };
  readonly userQuestions: Pick<UserQuestions, "answer">;
  readonly trust: Trust;
  readonly audit: Pick<Auditor, "skill" | "trusted">;
  readonly queueModes: Pick<QueueModes, "get" | "set">;
  /** What budgets leave to the sender of a message. */
  readonly budgetsLeft: (message: CommandMessage) => Promise<readonly RemainingBudget[]>;
  /** How many messages wait in a session. */
  readonly waiting: (sessionKey: string) => number;
  /**
   * Stops what goes on in a session, and drops what waits there: all of it, or what somebody who wrote `by` may mean.
   */
  readonly stop: (sessionKey: string, reason: Error, by?: CommandMessage) => StopResult;
  readonly subAgents: SubAgentsPort;
  readonly explainRoute: ExplainRoute;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  /** The commands of an agent's skills. */
  readonly skills: (agent: Agent) => readonly SkillCommand[];
  /** What the configuration says where a session chose nothing. */
  readonly queueMode: () => string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
}

/** What an owner says to a call that waits for a word. */
export type Decision = "allow" | "allow-always" | "deny";

/** The message that a command came in. */
export interface CommandMessage extends PlacedMessage {
  readonly id: InboxId;
  readonly stored: StoredMessage & { readonly role: Role };
  /** Rises within its session in the order in which messages were accepted. */
  readonly seq: number;
}

/** A person's command. */
export interface AskedCommand {
  readonly message: CommandMessage;
  readonly agent: Agent;
  readonly args: string;
  /** The phrases for the person who asks. */
  readonly phrases: Phrases;
}

export type Answer = (options: AnswerOptions, asked: AskedCommand) => string | Promise<string>;

/** The immutable id of who speaks. Where only the gateway's own clients are, that is the token that they hold. */
export function speaker({ definition }: AnswerOptions, { stored: { event } }: CommandMessage): string {
  const { channel, account, sender } = event;
  const isOwn = definition(channel, account)?.capabilities.authenticatedByGateway === true;
  const holdsGatewayToken = isOwn && tokenOfHolder(sender.id) === undefined;
  return `${channel}:${holdsGatewayToken ? "token" : sender.id}`;
}
