import { END_REASONS, type RunResult } from "@signalbox/agent-core";
import type { Outgoing } from "@signalbox/attachments";
import type { ChannelDefinition } from "@signalbox/channel";
import { composeRunReply, type Reply } from "@signalbox/prompt";
import type { Histories } from "@signalbox/runs";
import type { OutcomeError } from "@signalbox/server";
import { failureNote } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { PhrasesOf } from "../../configure/phrases-of.ts";
import type { GatewayHooks } from "../../hooks/hook-points.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import type { RunEnded } from "../6-run/run.ts";
import { type Commit, type Concluded, type Conclusion, type ReadyReply, STOPPED_RUN } from "./commit.ts";

export interface ConcludePorts {
  readonly commit: Commit;
  readonly histories: Pick<Histories, "keep">;
  readonly hooks: Pick<GatewayHooks, "modify">;
  readonly outgoing: Pick<Outgoing, "prepare">;
  readonly phrasesOf: PhrasesOf;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly logger: Logger;
}

/** Undefined if the gateway stopped first: the next start continues the run. */
export type Conclude = (ended: RunEnded) => Promise<Concluded | undefined>;

/** Makes the reply out of what the agent has said, and commits it with the end of the run. */
export function createConclude(ports: ConcludePorts): Conclude {
  return async (ended) => {
    const { run, result, tail } = ended;
    const composed = compose(ports, ended);
    const aborted = result.reason === "aborted";
    const wanted = aborted ? composed : await afterHooks(ports, run, composed);
    const ready = aborted ? wanted : await withAttachments(ports, run, wanted);
    if (ready === undefined && run.handle.signal.reason instanceof ShutdownAbort) return undefined;
    if (result.error !== undefined) {
      const messages = run.messages.map(({ id }) => id);
      ports.logger.warn({ run: run.runId, messages, err: errorOf(result).message }, "a run failed");
    }
    const { told } = run;
    const conclusion = { ...conclusionOf(result, ready, wanted), messages: tail.messages, told };
    const concluded = await ports.commit(run, conclusion);
    const { places } = tail;
    if (places !== undefined) {
      const messages = [...run.history, ...result.messages];
      ports.histories.keep(run.sessionKey, run.generation, { messages, places });
    }
    return concluded;
  };
}

function compose(ports: ConcludePorts, { run, result, texts }: RunEnded): Reply {
  const { channel, account } = run.asked.stored.event;
  const carries = ports.definition(channel, account)?.capabilities.sendMedia !== undefined;
  const phrases = ports.phrasesOf(run.asked);
  const notes = { ...phrases, failure: (code: string | undefined) => failureNote(code, phrases) };
  return composeRunReply({ result, texts, alreadySent: run.sentByTool, carries, notes });
}

/** @param ready undefined where the run was stopped while its attachments were made ready */
function conclusionOf(result: RunResult, ready: ReadyReply | undefined, wanted: Reply): Conclusion {
  const reply: ReadyReply = ready ?? wanted;
  const base = { reply, used: result.used, ...endOf(result) };
  if (result.reason === "aborted" || ready === undefined) return { ...base, ...STOPPED_RUN };
  if (result.reason === "error") {
    const error = errorOf(result);
    const rule = result.error?.code ?? "error";
    return { ...base, outcome: "failed", state: "failed-reported", rule, end: "failed", error };
  }
  return reply.silent
    ? { ...base, outcome: "completed", state: "silent", end: "silent" }
    : { ...base, outcome: "completed", state: "replied", end: "replied" };
}

/** How the run ended, for API clients, and why it was stopped before the model had finished. */
function endOf({ reason, limit }: RunResult): Pick<Conclusion, "finishReason" | "rule" | "reason"> {
  const { complete, finishReason } = END_REASONS[reason];
  const rule = complete ? {} : { rule: reason };
  if (reason !== "limit") return { finishReason, ...rule };
  return { finishReason, ...rule, reason: `The run reached its limit of ${limit ?? "work"}.` };
}

async function afterHooks({ hooks }: ConcludePorts, run: PreparedRun, reply: Reply): Promise<Reply> {
  if (reply.silent) return reply;
  const { agent, sessionKey, messages, asked } = run;
  const { event } = (messages.at(-1) ?? asked).stored;
  const place = { agentId: agent.id, sessionKey, event };
  const { text } = await hooks.modify("before_reply", { ...place, source: "turn", text: reply.text });
  // A text that a hook took away takes what was attached to it along.
  return { ...reply, text, silent: text === "" && (reply.text !== "" || reply.wanted === undefined) };
}

/**
 * The reply with its attachments ready to be sent, and a line for each that cannot be. Undefined if the run was stopped
 * meanwhile.
 */
async function withAttachments(
  { outgoing, definition, phrasesOf }: ConcludePorts,
  { agent, messages, asked, tools, handle }: PreparedRun,
  reply: Reply,
): Promise<ReadyReply | undefined> {
  const { event } = (messages.at(-1) ?? asked).stored;
  const channel = definition(event.channel, event.account);
  if (reply.wanted === undefined || reply.silent || channel === undefined) return reply;
  const ready = await outgoing.prepare({
    wanted: reply.wanted,
    agentId: agent.id,
    capabilities: channel.capabilities,
    mayAttach: tools.mayAttach,
    phrases: phrasesOf(asked),
    signal: handle.signal,
  });
  if (ready === undefined) return undefined;
  const text = [reply.text, ready.lines.join("\n")].filter((part) => part !== "").join("\n\n");
  return { ...reply, text, attached: ready.parts };
}

function errorOf({ error }: RunResult): OutcomeError {
  if (error === undefined) return { code: "model", message: "The model failed." };
  return {
    code: error.code,
    message: error.message,
    ...(error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs }),
  };
}
