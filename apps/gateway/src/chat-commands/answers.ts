import { speakerOf } from "@signalbox/channel";
import { QUEUE_MODES } from "@signalbox/lanes";
import { formatApproval } from "@signalbox/tools";
import { stopSubAgents } from "../api/made-sub-agents.ts";
import { sessionSeed } from "../api/session-seed.ts";
import type { Agent } from "../configure/agents.ts";
import { modelOf } from "./choices.ts";
import { type Answer, type AnswerOptions, type Decision, speaker } from "./command.ts";
import { usage, why } from "./looking-back.ts";
import { answerSkills } from "./skill-changes.ts";
import { type AtOnceName, helpText } from "./table.ts";
import { modelText, skillsText, thinkText } from "./texts.ts";

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

  why,

  usage,

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
    const isPrivate = message.stored.event.conversation.kind === "direct";
    if (id === "")
      return open.length === 0
        ? phrases.noApprovalWaits
        : open.map((one) => formatApproval(one, phrases, isPrivate)).join("\n\n");
    const decision = DECISIONS.get(answer);
    const one = open.find((each) => each.id === id);
    if (decision === undefined)
      return one === undefined ? phrases.noApproval(id) : formatApproval(one, phrases, isPrivate);
    if (decision === "allow-always" && one !== undefined && one.subject.rules === undefined)
      return phrases.noAllowRule(id);
    const outcome = await options.approvals.resolve(id, decision, speaker(options, message));
    if (!outcome.ok) return phrases.notDecided[outcome.code](id);
    return phrases.decided(decision, outcome.approval.tool, id);
  },

  async answer({ userQuestions }, { message: { id: messageId, stored }, args, phrases }) {
    const [, typed = "", words = ""] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (words === "") return phrases.sayTheAnswer;
    const id = typed.toUpperCase();
    const { event, role } = stored;
    const result = await userQuestions.answer(id, { words, speaker: speakerOf(event), role, messageId });
    if (result.ok) return "";
    return {
      unknown: phrases.noQuestion(id),
      wrong_person: phrases.questionOfOthers,
      closed: phrases.questionOver,
    }[result.why];
  },
};

const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ["allow", "allow"],
  ["allow-once", "allow"],
  ["allow-always", "allow-always"],
  ["deny", "deny"],
]);

async function waitingForOwner(options: AnswerOptions, agent: Agent) {
  const calls = await openApprovals(options);
  const skills = await options.skillApprovals.pending(agent);
  return { calls: calls.length, skills: skills.length };
}

async function openApprovals({ approvals }: AnswerOptions) {
  return (await approvals.list({ states: ["pending"] })).toReversed();
}
