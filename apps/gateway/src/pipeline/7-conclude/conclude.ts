import { END_REASONS, type RunResult } from "@signalbox/agent-core";
import { composeRunReply, type Reply } from "@signalbox/prompt";
import type { OutcomeError } from "@signalbox/server";
import { failureNote } from "@signalbox/telemetry";
import { getAnswerTexts } from "../../agent/sampling.ts";
import { getPhrases } from "../../configure/get-phrases.ts";
import type { GatewayContext } from "../../context.ts";
import { isVisible } from "../../messages/queued-message.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import { isHeartbeat } from "../../triggers/heartbeat.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import type { RunEnded } from "../6-run/run.ts";
import { type Concluded, type Conclusion, commit, type ReadyReply, STOPPED_RUN } from "./commit.ts";
import { withSpeech } from "./with-speech.ts";

/**
 * Composes the reply from the agent's texts and commits it together with the end of the run.
 *
 * @returns undefined if the gateway stopped first. The next start continues the run.
 */
export async function conclude(ctx: GatewayContext, ended: RunEnded): Promise<Concluded | undefined> {
  const { run, result, tail } = ended;
  const composed = compose(ctx, ended);
  const aborted = result.reason === "aborted";
  const wanted = aborted ? composed : await afterHooks(ctx, run, composed);
  const ready = aborted ? wanted : await withSpeech(ctx, ended, await withAttachments(ctx, run, wanted));
  if (ready === undefined && run.handle.signal.reason instanceof ShutdownAbort) return undefined;
  if (result.error !== undefined) {
    const messages = run.messages.map(({ id }) => id);
    ctx.logger.warn({ run: run.runId, messages, err: toOutcomeError(result).message }, "a run failed");
  }
  const { told } = run;
  const conclusion = { ...toConclusion(result, ready, wanted), messages: tail.messages, told };
  const concluded = await commit(ctx, run, conclusion);
  const { seqs } = tail;
  if (seqs !== undefined) {
    const messages = [...run.history, ...result.messages];
    ctx.histories.keep(run.sessionKey, run.generation, { messages, seqs });
  }
  return concluded;
}

function compose(ctx: GatewayContext, { run, result, texts }: RunEnded): Reply {
  const { channel, account } = run.asked.stored.event;
  const carries = ctx.getCapabilities(channel, account)?.sendMedia !== undefined;
  const phrases = getPhrases(ctx, run.asked);
  const notes = { ...phrases, failure: (code: string | undefined) => failureNote(code, phrases) };
  const awaited = isAnswerAwaited(run.asked);
  const answer = getAnswerTexts(texts, run.asked.stored.event.turn);
  return composeRunReply({ result, texts: answer, alreadySent: run.sentByTool, carries, awaited, notes });
}

/**
 * Returns true if a person expects an answer. For sub-agents, heartbeats and unaddressed group messages, nobody does.
 */
function isAnswerAwaited(asked: PreparedRun["asked"]): boolean {
  const { event } = asked.stored;
  return isVisible(asked) && event.addressed !== "none" && !isHeartbeat(event);
}

/** @param ready undefined if the run was stopped while its attachments were being prepared */
function toConclusion(result: RunResult, ready: ReadyReply | undefined, wanted: Reply): Conclusion {
  const reply: ReadyReply = ready ?? wanted;
  const base = { reply, used: result.used, ...getEndReason(result) };
  if (result.reason === "aborted" || ready === undefined) return { ...base, ...STOPPED_RUN };
  if (result.reason === "error") {
    const error = toOutcomeError(result);
    const rule = result.error?.code ?? "error";
    return { ...base, outcome: "failed", state: "failed-reported", rule, end: "failed", error };
  }
  const rule = reply.empty === true ? { rule: "empty" } : {};
  return reply.silent
    ? { ...base, ...rule, outcome: "completed", state: "silent", end: "silent" }
    : { ...base, ...rule, outcome: "completed", state: "replied", end: "replied" };
}

/** Returns the finish reason for API clients, and the rule that ended the run before the model had finished. */
function getEndReason({ reason, limit }: RunResult): Pick<Conclusion, "finishReason" | "rule" | "reason"> {
  const { complete, finishReason } = END_REASONS[reason];
  const rule = complete ? {} : { rule: reason };
  if (reason !== "limit") return { finishReason, ...rule };
  return { finishReason, ...rule, reason: `The run reached its limit of ${limit ?? "work"}.` };
}

async function afterHooks({ hooks }: GatewayContext, run: PreparedRun, reply: Reply): Promise<Reply> {
  if (reply.silent) return reply;
  const { agent, sessionKey, messages, asked } = run;
  const { event } = (messages.at(-1) ?? asked).stored;
  const place = { agentId: agent.id, sessionKey, event };
  const { text } = await hooks.modify("before_reply", { ...place, source: "turn", text: reply.text });
  // If a hook removed the text, the attachments are also dropped.
  return { ...reply, text, silent: text === "" && (reply.text !== "" || reply.media === undefined) };
}

/**
 * Prepares the attachments of the reply. An attachment that cannot be sent is replaced with a line of text. Returns
 * undefined if the run was stopped in the meantime.
 */
async function withAttachments(
  ctx: GatewayContext,
  { agent, messages, asked, tools, handle }: PreparedRun,
  reply: Reply,
): Promise<ReadyReply | undefined> {
  const { event } = (messages.at(-1) ?? asked).stored;
  const channel = ctx.getChannel(event.channel, event.account);
  if (reply.media === undefined || reply.silent || channel === undefined) return reply;
  const ready = await ctx.media.out.prepare({
    wanted: reply.media,
    agentId: agent.shardId,
    capabilities: channel.capabilities,
    mayAttach: tools.mayAttach,
    isVisible: tools.isVisible,
    phrases: getPhrases(ctx, asked),
    signal: handle.signal,
  });
  if (ready === undefined) return undefined;
  const text = [reply.text, ready.lines.join("\n")].filter((part) => part !== "").join("\n\n");
  return { ...reply, text, attached: ready.parts };
}

function toOutcomeError({ error }: RunResult): OutcomeError {
  if (error === undefined) return { code: "model", message: "The model failed." };
  return {
    code: error.code,
    message: error.message,
    retryAfterMs: error.retryAfterMs,
  };
}
