import { randomUUID } from "node:crypto";
import { reasonOf } from "@signalbox/agent-core";
import type { MessageWithFiles } from "@signalbox/attachments";
import {
  type AskForGrant,
  type Budget,
  type BudgetPot,
  createMeter,
  getBudgetFacts,
  getPeriodEnd,
  getRemainingBudgets,
  type RemainingBudget,
  type Spender,
} from "@signalbox/budgets";
import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import { pricesFor } from "@signalbox/llm-providers";
import type { Phrases } from "@signalbox/phrases";
import type { Vault } from "@signalbox/redaction";
import { parseIdentityLinks, type Role } from "@signalbox/routing";
import { type Approvals, cleanRequester, escapeInvisible } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import { getBudgets } from "../configure/budgets.ts";
import { getPhrases } from "../configure/get-phrases.ts";
import type { LiveConfig } from "../configure/live-config.ts";
import type { AgentModel } from "../configure/models.ts";
import { guardModelStream, redactedModel } from "./model-stream.ts";
import { getRequester } from "./requester.ts";
import { reportNotice, type SpendingReports } from "./spending-reports.ts";

export interface SpendingPorts extends SpendingReports {
  readonly config: LiveConfig;
  /** Removes secrets from model output. */
  readonly vault: Vault;
  readonly approvals: Approvals;
}

/** The message for which a model is called. Its sender pays for the call. */
interface PaidMessage {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly stored: { readonly event: MessageEvent; readonly role: Role };
}

/** Charges every model call to the budgets that apply to it. */
export interface Spending {
  /**
   * Returns the model with its calls charged to a message's sender, its channel and the agent.
   *
   * @param asking asks a person to extend the budget and marks the run as waiting in the meantime, if a person can
   * decide
   */
  forMessage(agentModel: AgentModel, message: PaidMessage, asking?: Asking): AgentModel;
  /** Like {@link forMessage}, but for calls that the agent makes without a message. */
  forMaintenance(agentModel: AgentModel, agent: Agent): AgentModel;
  /** Returns the models that an exhausted budget may switch a run to, as `provider/model`. */
  cheaperModels(): readonly string[];
  /** Returns the remaining budgets of a message's sender. */
  left(message: PaidMessage): Promise<readonly RemainingBudget[]>;
}

type Asking = (ask: () => Promise<boolean>) => Promise<boolean>;

/** Keeps the agents' costs within the budgets of the configuration in effect at each call. */
export function createSpending(ports: SpendingPorts): Spending {
  const { config, vault, ledger, logger, now } = ports;
  const budgets = (): readonly Budget[] => getBudgets(config.current().settings);
  const getSpender = createSpenders(config);
  const spender = ({ agentId, stored: { event, role } }: PaidMessage) => getSpender({ agentId, event, role });
  const meter = createMeter({
    budgets,
    ledger,
    getPrices: pricesFor,
    cheaper({ agent: id }, reference) {
      const { agents, models } = config.current();
      const agent = agents.get(id);
      const chosen = agent && models.of(agent, reference);
      return chosen !== undefined && getModelName(chosen) === reference
        ? redactedModel(vault, chosen)
        : undefined;
    },
    onNotice: reportNotice(ports),
    onProblem: (error) =>
      logger.warn({ err: reasonOf(error) }, "the cost of a model call could not be recorded"),
    now,
    newId: randomUUID,
  });
  const guarded = (agentModel: AgentModel, payer: Spender, ask?: AskForGrant): AgentModel => ({
    ...agentModel,
    stream: guardModelStream({ vault, meter }, agentModel, payer, ask),
  });
  return {
    forMessage: (agentModel, message, asking) =>
      guarded(
        agentModel,
        spender(message),
        async (pot, signal) =>
          asking?.(() => askForMore(ports, message, pot, getPhrases(ports, message), signal)) ?? false,
      ),
    forMaintenance: (agentModel, { id }) => guarded(agentModel, { agent: id, role: "system" }),
    cheaperModels: () =>
      budgets().flatMap(({ whenUsedUp }) => (whenUsedUp.action === "cheaper" ? [whenUsedUp.model] : [])),
    left: (message) => getRemainingBudgets(ledger, budgets(), spender(message), now()),
  };
}

/** Returns a function that finds the payer for a message. People joined by an identity link are one payer. */
export function createSpenders(
  config: LiveConfig,
): (message: Pick<MessageWithFiles, "agentId" | "event" | "role">) => Spender {
  const identities = config.derived(({ settings }) => parseIdentityLinks(settings.session.identityLinks));
  return ({ agentId, event, role }) => ({
    agent: agentId,
    sender: identities().findPerson(event.channel, event.sender.id) ?? getPayer(event),
    channel: event.channel,
    role,
  });
}

/** The hook itself pays for a forwarded message, regardless of the conversation that its caller names. */
function getPayer(event: MessageEvent): string {
  const from = event.channel === "web" ? event.forwarded?.from : undefined;
  return from === undefined ? getSpeakerKey(event) : `${event.channel}:${from}`;
}

/**
 * Asks an owner in the conversation of the call. During a shutdown the request stays open, and the next start repeats
 * it.
 */
async function askForMore(
  { approvals, now }: SpendingPorts,
  { agentId, sessionKey, stored }: PaidMessage,
  { budget, account }: BudgetPot,
  phrases: Phrases,
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  const facts = { ...getBudgetFacts(budget), left: 0, until: getPeriodEnd(budget.per, now()) };
  const request = {
    tool: "budget",
    subject: { action: escapeInvisible(phrases.grantMore(account, facts)) },
    agentId,
    sessionKey,
    reason: escapeInvisible(phrases.budgetUsedUp(facts)),
    taint: [],
    requester: cleanRequester(getRequester(stored)),
  };
  const { id } = await approvals.request(request);
  const answer = await approvals.wait(id, signal);
  return answer === "allowed" && (await approvals.take(request)) !== undefined;
}

function getModelName({ model: { provider, id } }: AgentModel): string {
  return `${provider}/${id}`;
}
