import { getSpeakerKey } from "@signalbox/channel";
import { QUEUE_MODES } from "@signalbox/lanes";
import { formatApproval } from "@signalbox/tools";
import { type AtOnceName, helpText, mayUseCommand } from "../command-syntax/table.ts";
import { modelText, skillsText, thinkText } from "../command-syntax/texts.ts";
import type { Agent } from "../configure/agents.ts";
import type { GatewayContext } from "../context.ts";
import { isStoppedBy } from "../messages/queued-message.ts";
import { sessionSeed } from "../messages/session-seed.ts";
import { stopSubAgents } from "../triggers/stop-sub-agents.ts";
import { VERSION } from "../version.ts";
import { getSessionModel } from "./choices.ts";
import { type Answer, type Decision, speaker } from "./command.ts";
import { answerMcp } from "./mcp.ts";
import { answerSkills } from "./skill-changes.ts";
import { getSkillCommands } from "./skill-commands.ts";
import { answerSpeech } from "./speech.ts";
import { answerTrust } from "./trust.ts";
import { usage, why } from "./why-and-usage.ts";

/** Answers for commands that need no run. */
export const ANSWERS: Readonly<Record<AtOnceName, Answer>> = {
  start: (_ctx, { message, agent, phrases }) =>
    phrases.greeting(agent.name, mayUseCommand("help", message.stored.role)),

  help: (ctx, { message, agent, phrases }) =>
    helpText(phrases, message.stored.role, getSkillCommands(ctx, agent)),

  async status(ctx, { message, agent, phrases }) {
    const { store, config, now } = ctx;
    const { models } = config.current();
    const { sessionKey } = message;
    const session = await store.sessions.get(sessionKey);
    const isOwner = message.stored.role === "owner";
    return phrases.status({
      version: VERSION,
      upMs: now() - ctx.startedAt,
      agent,
      model: getSessionModel(models, agent, session),
      thinking: session?.thinking ?? agent.thinking,
      messages: session?.messageCount ?? 0,
      isRunning: session?.activeRun !== undefined,
      waiting: ctx.lanes.waiting(sessionKey).length,
      queueMode: ctx.queueModes.get(sessionKey) ?? ctx.config.current().settings.session.queue.mode,
      forOwner: isOwner ? await waitingForOwner(ctx, agent) : undefined,
    });
  },

  whoami(ctx, { message, agent, phrases }) {
    const { sessionKey, stored } = message;
    const { event, role, rule } = stored;
    const { conversation } = event;
    return phrases.whoami({
      speaker: speaker(ctx, message),
      role,
      rule,
      agent,
      conversation,
      sessionKey,
    });
  },

  async stop(ctx, { message, phrases }) {
    const reason = new Error("stopped by the user");
    const { sessionKey } = message;
    const { running, dropped } = ctx.lanes.stop(sessionKey, reason, (item) => isStoppedBy(item, message));
    await stopSubAgents(
      { subAgents: ctx.subAgents, stop: (key, why) => ctx.lanes.stop(key, why) },
      sessionKey,
      reason,
    );
    return phrases.stopped(running, dropped);
  },

  why,

  usage,

  async queue(ctx, { message, args, phrases }) {
    const { sessionKey, stored } = message;
    const wanted = args.toLowerCase();
    if (wanted !== "") {
      if (stored.role !== "owner") return phrases.queueForOwners;
      const mode = QUEUE_MODES.find((one) => one === wanted);
      if (mode === undefined && wanted !== "default") return phrases.noQueueMode(args, QUEUE_MODES);
      await ctx.store.sessions.ensure(sessionSeed(message));
      await ctx.queueModes.set(sessionKey, mode);
    }
    const own = ctx.queueModes.get(sessionKey);
    const waiting = ctx.lanes.waiting(sessionKey).length;
    return phrases.queue(own ?? ctx.config.current().settings.session.queue.mode, own !== undefined, waiting);
  },

  speech: answerSpeech,

  skill: (ctx, { agent, args, phrases }) => skillsText(phrases, getSkillCommands(ctx, agent), args),

  skills: (ctx, asked) => answerSkills(ctx, asked, speaker(ctx, asked.message)),

  trust: (ctx, asked) => answerTrust(ctx, asked, speaker(ctx, asked.message)),

  mcp: (ctx, asked) => answerMcp(ctx, asked, speaker(ctx, asked.message)),

  async model({ store, config }, { message, agent, args, phrases }) {
    const session = await store.sessions.get(message.sessionKey);
    const { models } = config.current();
    return modelText(phrases, getSessionModel(models, agent, session), models.offered(), args);
  },

  async think({ store }, { message, agent, args, phrases }) {
    const session = await store.sessions.get(message.sessionKey);
    return thinkText(phrases, session?.thinking ?? agent.thinking, args);
  },

  async approve(ctx, { message, args, phrases }) {
    const [typed = "", answer = ""] = args.split(/\s+/);
    const id = typed.toUpperCase();
    const open = await openApprovals(ctx);
    const isPrivate = message.stored.event.conversation.kind === "direct";
    if (id === "")
      return open.length === 0
        ? phrases.noApprovalWaits
        : open.map((one) => formatApproval(one, { phrases, isPrivate })).join("\n\n");
    const decision = DECISIONS.get(answer);
    const one = open.find((each) => each.id === id);
    if (decision === undefined)
      return one === undefined ? phrases.noApproval(id) : formatApproval(one, { phrases, isPrivate });
    if (decision === "allow-always" && one !== undefined && one.subject.rules === undefined)
      return phrases.noAllowRule(id);
    const outcome = await ctx.toolbox.approvals.resolve(id, decision, speaker(ctx, message));
    if (!outcome.ok) return phrases.notDecided[outcome.code](id);
    return phrases.decided(decision, outcome.approval.tool, id);
  },

  async answer({ userQuestions }, { message: { id: messageId, stored }, args, phrases }) {
    const [, typed = "", words = ""] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (words === "") return phrases.sayTheAnswer;
    const id = typed.toUpperCase();
    const { event, role } = stored;
    const result = await userQuestions.answer(id, { words, speaker: getSpeakerKey(event), role, messageId });
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

async function waitingForOwner(ctx: GatewayContext, agent: Agent) {
  const calls = await openApprovals(ctx);
  const skills = await ctx.config.current().skills.pending(agent);
  return { calls: calls.length, skills: skills.length };
}

async function openApprovals({ toolbox }: GatewayContext) {
  return (await toolbox.approvals.list({ states: ["pending"] })).toReversed();
}
