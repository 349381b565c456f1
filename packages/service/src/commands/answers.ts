import type { Auditor } from "@signalbox/audit";
import { factsOf, type Left } from "@signalbox/budgets";
import { type ChannelDefinition, speakerOf } from "@signalbox/channel";
import {
  type AtOnceName,
  type Choice,
  helpText,
  modelText,
  skillsText,
  thinkText,
} from "@signalbox/commands";
import { QUEUE_MODES, type QueueModes, type Stopped } from "@signalbox/lanes";
import type { Phrases } from "@signalbox/phrases";
import { type Role, tokenOfHolder } from "@signalbox/routing";
import type { Agent, Models } from "@signalbox/setup";
import type { SkillCommand } from "@signalbox/skills";
import type { InboxId, Session } from "@signalbox/store";
import { explain, whyLines } from "@signalbox/telemetry";
import { type Inquiries, type Questions, questionText, type Trust } from "@signalbox/tools";
import { type SubAgentsPort, stopSubAgents } from "../made-sub-agents.ts";
import type { PlacedMessage, ServiceStore, StoredMessage, StoredRow } from "../service-store.ts";
import { sessionSeed } from "../session-seed.ts";
import { type ExplainRoute, findInConversation, findMessage, messageInfo, readTrace } from "../traces.ts";
import { answerSkills, type SkillChangesPorts } from "./skill-changes.ts";

/** What commands look at and change. */
export interface AnswerOptions extends SkillChangesPorts {
  /** Of the host, as its people are told it. */
  readonly version: string;
  readonly store: ServiceStore;
  readonly models: Pick<Models, "of" | "offered">;
  readonly approvals: Pick<Questions, "list"> & {
    resolve(id: string, decision: Decision, approver: string): ReturnType<Questions["resolve"]>;
  };
  readonly inquiries: Pick<Inquiries, "answer">;
  readonly trust: Trust;
  readonly audit: Pick<Auditor, "skill" | "trusted">;
  readonly queueModes: Pick<QueueModes, "get" | "set">;
  /** What budgets leave to the sender of a message. */
  readonly budgetsLeft: (message: CommandMessage) => Promise<readonly Left[]>;
  /** How many messages wait in a session. */
  readonly waiting: (sessionKey: string) => number;
  /**
   * Stops what goes on in a session, and drops what waits there: all of it, or what somebody who wrote `by` may mean.
   */
  readonly stop: (sessionKey: string, reason: Error, by?: CommandMessage) => Stopped;
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

/** The word after /why that asks for every step, in the words of the record. */
const DETAILS = "details";

type Decision = "allow" | "allow-always" | "deny";

/** The message that a command came in. */
export interface CommandMessage extends PlacedMessage {
  readonly id: InboxId;
  readonly stored: StoredMessage & { readonly role: Role };
  /** Rises within its session in the order in which messages were accepted. */
  readonly seq: number;
}

/** Somebody's command. */
export interface AskedCommand {
  readonly message: CommandMessage;
  readonly agent: Agent;
  readonly args: string;
  /** The words for whoever asks. */
  readonly phrases: Phrases;
}

type Answer = (options: AnswerOptions, asked: AskedCommand) => string | Promise<string>;

/** What each command that needs no turn says. */
export const ANSWERS: Readonly<Record<AtOnceName, Answer>> = {
  help: (options, { message, agent, phrases }) =>
    helpText(phrases, message.stored.role, options.skills(agent)),

  async status(options, { message, agent, phrases }) {
    const { store, models, now } = options;
    const { sessionKey } = message;
    const session = await store.sessions.get(sessionKey);
    const isOwner = message.stored.role === "owner";
    return phrases.status({
      version: options.version,
      upMs: now() - options.startedAt,
      agent,
      sessionKey,
      model: modelOf(models, agent, session),
      thinking: session?.thinking ?? agent.thinking,
      messages: session?.messageCount ?? 0,
      isRunning: session?.activeRun !== undefined,
      waiting: options.waiting(sessionKey),
      queueMode: options.queueModes.get(sessionKey) ?? options.queueMode(),
      ...(isOwner ? { forOwner: await waitingForOwner(options, agent) } : {}),
    });
  },

  whoami(options, { message, agent, phrases }) {
    const { sessionKey, stored } = message;
    const { event, role, rule } = stored;
    const { conversation } = event;
    return phrases.whoami({
      speaker: speaker(options, message),
      role,
      rule,
      agent,
      conversation,
      sessionKey,
    });
  },

  async stop(options, { message, phrases }) {
    const reason = new Error("stopped by the user");
    const { running, dropped } = options.stop(message.sessionKey, reason, message);
    await stopSubAgents(options, message.sessionKey, reason);
    return phrases.stopped(running, dropped);
  },

  async why({ store, explainRoute }, { message, args, phrases }) {
    const words = args.split(/\s+/).filter((word) => word !== "");
    const asked = words.find((word) => word !== DETAILS) ?? "";
    const row = asked === "" ? await lastMessage(store, message) : await namedMessage(store, message, asked);
    if (row === undefined || !concerns(row, message))
      return asked === "" ? phrases.nothingBefore : phrases.noMessage(asked);
    // The tiers name what other people are bound to.
    const isOwner = message.stored.role === "owner";
    const trace = await readTrace(store, row.id, isOwner ? explainRoute : undefined);
    const isDetailed = trace !== undefined && words.includes(DETAILS);
    const lines = isDetailed ? whyLines(trace).map(({ stage, summary }) => `${stage}: ${summary}`) : [];
    const { sentence, remedy } = explain(
      trace ?? { messageId: row.id, entries: [], message: messageInfo(row) },
      phrases,
    );
    const advice = isOwner && remedy !== undefined ? [remedy] : [];
    return [`${row.messageId ?? row.id}: ${sentence}`, ...advice, ...lines].join("\n");
  },

  async usage(options, { message, agent, phrases }) {
    const { store, now } = options;
    const session = await store.sessions.get(message.sessionKey);
    const sender = speakerOf(message.stored.event);
    const [asker] = await store.usage.sum({ by: "sender", sender, from: now() });
    const lines = [
      ...(await usageOfMessage(store, message, phrases)),
      phrases.labelled(phrases.usageHere, phrases.usage(session?.totals)),
      phrases.labelled(phrases.usageYours, phrases.usage(asker)),
    ];
    if (message.stored.role === "owner") {
      const of = { by: "agent", agentId: agent.id } as const;
      const [today] = await store.usage.sum({ ...of, from: now() });
      const [ever] = await store.usage.sum(of);
      lines.push(
        phrases.labelled(phrases.usageToday(agent.id), phrases.usage(today)),
        phrases.labelled(phrases.usageEver(agent.id), phrases.usage(ever)),
      );
    }
    const left = await options.budgetsLeft(message);
    const budgets = left.map(({ budget, left, until }) =>
      phrases.budgetLeft({ ...factsOf(budget), left, until }),
    );
    return [...lines, ...budgets].join("\n");
  },

  async queue(options, { message, args, phrases }) {
    const { sessionKey, stored } = message;
    const wanted = args.toLowerCase();
    if (wanted !== "") {
      if (stored.role !== "owner") return phrases.queueForOwners;
      const mode = QUEUE_MODES.find((one) => one === wanted);
      if (mode === undefined && wanted !== "default") return phrases.noQueueMode(args, QUEUE_MODES);
      await options.store.sessions.ensure(sessionSeed(message));
      await options.queueModes.set(sessionKey, mode);
    }
    const own = options.queueModes.get(sessionKey);
    const waiting = options.waiting(sessionKey);
    return phrases.queue(own ?? options.queueMode(), own !== undefined, waiting);
  },

  skill: (options, { agent, args, phrases }) => skillsText(phrases, options.skills(agent), args),

  skills: (options, asked) => answerSkills(options, asked, speaker(options, asked.message)),

  async trust(options, { message, agent, args, phrases }) {
    if (args === "") return phrases.sayWhichFile;
    const trusted = await options.trust(agent, args, phrases);
    if (!trusted.ok) return trusted.message;
    options.audit.trusted(agent.id, trusted.path, speaker(options, message));
    return phrases.trusted(trusted.path);
  },

  async model({ store, models }, { message, agent, args, phrases }) {
    const session = await store.sessions.get(message.sessionKey);
    return modelText(phrases, modelOf(models, agent, session), models.offered(), args);
  },

  async think({ store }, { message, agent, args, phrases }) {
    const session = await store.sessions.get(message.sessionKey);
    return thinkText(phrases, session?.thinking ?? agent.thinking, args);
  },

  async approve(options, { message, args, phrases }) {
    const [typed = "", answer = ""] = args.split(/\s+/);
    const id = typed.toUpperCase();
    const open = await openApprovals(options);
    if (id === "")
      return open.length === 0
        ? phrases.noApprovalWaits
        : open.map((one) => questionText(one, phrases)).join("\n\n");
    const decision = DECISIONS.get(answer);
    const one = open.find((each) => each.id === id);
    if (decision === undefined)
      return one === undefined ? phrases.noApproval(id) : questionText(one, phrases);
    if (decision === "allow-always" && one !== undefined && one.subject.rules === undefined)
      return phrases.noStandingRule(id);
    const outcome = await options.approvals.resolve(id, decision, speaker(options, message));
    if (!outcome.ok) return phrases.notDecided[outcome.code](id);
    return phrases.decided(decision, outcome.approval.tool, id);
  },

  async answer({ inquiries }, { message: { id: messageId, stored }, args, phrases }) {
    const [, typed = "", words = ""] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (words === "") return phrases.sayTheAnswer;
    const id = typed.toUpperCase();
    const { event, role } = stored;
    const answered = await inquiries.answer(id, { words, speaker: speakerOf(event), role, messageId });
    if (answered.ok) return "";
    return {
      unknown: phrases.noQuestion(id),
      "somebody-else": phrases.questionOfOthers,
      over: phrases.questionOver,
    }[answered.why];
  },
};

const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ["allow", "allow"],
  ["allow-once", "allow"],
  ["allow-always", "allow-always"],
  ["deny", "deny"],
]);

/** Keeps a choice with the session and says what holds now. */
export async function applyChoice(
  { store, models }: AnswerOptions,
  message: CommandMessage,
  agent: Agent,
  choice: Choice,
  phrases: Phrases,
): Promise<string> {
  await store.sessions.ensure(sessionSeed(message));
  const patch = (value: string | undefined) => (value === "default" ? null : value);
  const model = patch(choice.model);
  const thinking = patch(choice.thinking);
  const session = await store.sessions.patch(message.sessionKey, {
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
  });
  const lines: string[] = [];
  if (model !== undefined) lines.push(phrases.modelChosen(modelOf(models, agent, session)));
  if (thinking !== undefined) {
    const level = session.thinking ?? agent.thinking;
    const levels = models.of(agent, session.model)?.model.thinking ?? [];
    const clamped = level !== "off" && levels.length === 0 ? ` ${phrases.cannotThink}` : "";
    lines.push(`${phrases.thinkingChosen(level)}${clamped}`);
  }
  return lines.join("\n");
}

/** The immutable id of who speaks. Where only the gateway's own clients are, that is the token that they hold. */
function speaker({ definition }: AnswerOptions, { stored: { event } }: CommandMessage): string {
  const { channel, account, sender } = event;
  const isOwn = definition(channel, account)?.capabilities.authenticatedByGateway === true;
  const holdsGatewayToken = isOwn && tokenOfHolder(sender.id) === undefined;
  return `${channel}:${holdsGatewayToken ? "token" : sender.id}`;
}

async function waitingForOwner(options: AnswerOptions, agent: Agent) {
  const calls = await openApprovals(options);
  const skills = await options.skillApprovals.pending(agent);
  return { calls: calls.length, skills: skills.length };
}

async function openApprovals({ approvals }: AnswerOptions) {
  return (await approvals.list({ states: ["pending"] })).toReversed();
}

function modelOf(models: Pick<Models, "of">, agent: Agent, session: Session | undefined): string {
  const chosen = models.of(agent, session?.model)?.model;
  return chosen === undefined ? "none" : `${chosen.provider}/${chosen.id}`;
}

/** What answering took the message that `/usage` is about, with others that were answered at once. */
async function usageOfMessage(
  { inbox, runs }: ServiceStore,
  message: CommandMessage,
  phrases: Phrases,
): Promise<string[]> {
  const row = await lastMessage({ inbox }, message);
  if (row?.runId === undefined || !concerns(row, message)) return [];
  const used = (await runs.get(row.runId))?.usage;
  if (used === undefined) return [];
  const isQuoted = row.messageId !== undefined && row.messageId === message.stored.event.replyTo?.messageId;
  return [phrases.labelled(phrases.usageOfMessage(isQuoted), phrases.usage(used))];
}

/** What came in elsewhere concerns owners alone. */
function concerns(row: StoredRow, { sessionKey, stored }: CommandMessage): boolean {
  return row.route?.sessionKey === sessionKey || stored.role === "owner";
}

/** The message of this conversation that is called so; else one of any. */
async function namedMessage(
  store: Pick<ServiceStore, "inbox">,
  { stored }: CommandMessage,
  id: string,
): Promise<StoredRow | undefined> {
  return (await findInConversation(store, stored.event, id)) ?? (await findMessage(store, id));
}

/** What the command was a reply to; else the newest message of the conversation that was not itself a command. */
async function lastMessage(
  store: Pick<ServiceStore, "inbox">,
  message: CommandMessage,
): Promise<StoredRow | undefined> {
  const { event } = message.stored;
  const { replyTo } = event;
  const answered = replyTo && (await findInConversation(store, event, replyTo.messageId));
  if (answered !== undefined) return answered;
  const rows = await store.inbox.list({ sessionKey: message.sessionKey, before: message.id, limit: 50 });
  return rows.find((row) => row.kind === "message" && row.detail?.rule?.startsWith("command:") !== true);
}
