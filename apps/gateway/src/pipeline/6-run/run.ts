import type { AgentEvent, AgentLoopConfig, ToolCallBlock } from "@signalbox/agent-core";
import { getDraftText, REPLY_FILTER } from "@signalbox/prompt";
import { redactBeginning } from "@signalbox/redaction";
import {
  createLiveView,
  type DurableRun,
  type EndedRun,
  type LiveView,
  runDurably,
  type Waiting,
} from "@signalbox/runs";
import type { Logger } from "@signalbox/telemetry/logger";
import { getSamplingOptions } from "../../agent/sampling.ts";
import type { GatewayContext } from "../../context.ts";
import { createRunReporter } from "../../hooks/report-run.ts";
import { isVisible } from "../../messages/queued-message.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import { createSteering } from "./steering.ts";

/** Maximum length of a tool call's arguments in the trace, in UTF-16 code units. */
const MAX_TRACED_ARGS = 500;

/** A run after its agent has finished and before its end is recorded. */
export interface RunEnded extends EndedRun {
  readonly run: PreparedRun;
  /** One text for each model turn. */
  readonly texts: readonly string[];
}

/**
 * Runs the agent: model turns and tool calls. Each step is recorded before the next effect.
 *
 * @returns undefined if the gateway stops first. The next start continues the run.
 */
export async function run(ctx: GatewayContext, prepared: PreparedRun): Promise<RunEnded | undefined> {
  const { runId, sessionKey, asked, handle, tools, taint } = prepared;
  const waiting = ctx.waitingRuns.track(runId, handle);
  const running = withinBudgets(ctx, prepared, waiting);
  const view = createLiveView({
    runId,
    earlier: running.earlier,
    filter: REPLY_FILTER,
    now: ctx.now,
    publish: (event) => ctx.live.publish(sessionKey, event),
    retract: () => ctx.live.retract(sessionKey),
    note: (of, text, data) => ctx.tracer.note(asked.id, "run", text, { ...data, of }),
    // Redact before truncating, because a truncated secret would not be recognized.
    shortenArgs: redactBeginning(ctx.redact, MAX_TRACED_ARGS),
  });
  const stopTyping = isVisible(asked)
    ? ctx.typing.begin(runId, asked.stored.event, running.input === undefined)
    : () => {};
  try {
    const ended = await runDurably(durableRun(ctx, running, waiting), watcher(ctx, running, view));
    if (ended === undefined) return undefined;
    await taint.add({ sources: tools.taint(), speakers: [] });
    const { result, tail } = ended;
    return {
      run: running,
      result,
      tail: isShown(ctx, running) ? tail : withoutBroken(tail),
      texts: view.texts(),
    };
  } finally {
    stopTyping();
  }
}

function durableRun(ctx: GatewayContext, run: PreparedRun, waiting: Waiting): DurableRun {
  const { runId, sessionKey, handle, tools } = run;
  const steering = createSteering(ctx, run);
  return {
    context: {
      system: run.system,
      history: run.history,
      tools: tools.tools,
      input: run.input,
    },
    config: { ...loopConfig(ctx, run), steering: () => steering.next() },
    journal: {
      store: ctx.store,
      lease: ctx.lease,
      runId,
      sessionKey,
      seqs: run.seqs,
      effects: tools.effects,
      calls: run.calls,
      takeSteeringIds: () => steering.takeJoined(),
    },
    isRepeatable,
    waiting,
    isSuspended: () => handle.signal.reason instanceof ShutdownAbort,
  };
}

/**
 * Returns true if it is safe to repeat a call, because the message has an id derived from the call and is therefore
 * sent only once.
 */
function isRepeatable({ name, args }: ToolCallBlock): boolean {
  return name === "message" && (args?.["action"] === "send" || args?.["action"] === "poll");
}

/** A client that waits for a single answer cannot decide about a budget while it waits. */
function withinBudgets(
  { spending, getCapabilities }: GatewayContext,
  run: PreparedRun,
  waiting: Waiting,
): PreparedRun {
  const { channel, account } = run.asked.stored.event;
  const canAsk = getCapabilities(channel, account)?.awaitsSingleAnswer !== true;
  const agentModel = spending.forMessage(run.agentModel, run.asked, canAsk ? waiting.during : undefined);
  return { ...run, agentModel };
}

function loopConfig(ctx: GatewayContext, run: PreparedRun): AgentLoopConfig {
  const { agent, agentModel, sessionKey, tools, taint } = run;
  const beforeCompaction = ctx.flushMemory({ ...run, role: tools.role, taint: tools.taint });
  return {
    model: agentModel.model,
    stream: agentModel.stream,
    streamOptions: {
      thinking: agent.thinking,
      sessionId: sessionKey,
      // An interrupted answer is requested again unless a person has seen part of it.
      shown: () => isShown(ctx, run),
      ...getSamplingOptions(agent, run.asked.stored.event.turn),
    },
    signal: run.handle.signal,
    limits: isVisible(run.asked) ? agent.limits : agent.subAgents.limits,
    context: {
      compaction: { cache: ctx.compactionCache },
      historyTurns: agent.historyTurns,
    },
    beforeCompaction,
    transformContext: (messages) => run.contexts.apply(messages),
    beforeToolCall: tools.beforeToolCall,
    onAsk: tools.onAsk,
    async onJournalEntry(entry) {
      // Record the taint of a tool result before the result, because another process may resume the run in between.
      if (entry.kind === "toolResult") await taint.add({ sources: tools.taint(), speakers: [] });
    },
    now: ctx.now,
  };
}

/** Shows the run to people and programs while it is in progress. */
function watcher(ctx: GatewayContext, run: PreparedRun, view: LiveView): (event: AgentEvent) => void {
  const { agent, sessionKey, runId, messages, asked, handle, sentByTool, agentModel } = run;
  const { event } = asked.stored;
  const carries = ctx.getCapabilities(event.channel, event.account)?.sendMedia !== undefined;
  const watched = {
    runId,
    event,
    signal: handle.signal,
    visible: () => getDraftText(view, sentByTool, carries),
    standing: () => getDraftText(view, sentByTool),
  };
  const showOnPlatform = isVisible(asked)
    ? (ctx.blocks.watch(watched) ?? ctx.drafts.watch(watched))
    : undefined;
  const model = `${agentModel.model.provider}/${agentModel.model.id}`;
  const watchModel = ctx.metrics.watchModel(model);
  const traceRun = ctx.otlp.watchRun({
    runId,
    agentId: agent.id,
    sessionKey,
    channel: event.channel,
    provider: agentModel.model.provider,
    model: agentModel.model.id,
  });
  const tellHooks = createRunReporter(ctx.hooks, {
    agentId: agent.id,
    sessionKey,
    runId,
    model,
    messageIds: messages.map(({ stored }) => stored.event.messageId),
    // A resumed run has no new input.
    goesOn: run.input === undefined,
  });
  return (happened) => {
    view.apply(happened);
    watchModel(happened);
    traceRun(happened);
    tellHooks(happened);
    if (happened.type === "attempt") logAttempt(ctx.logger, run, happened);
    if (happened.type === "text.delta" || happened.type === "message") showOnPlatform?.();
  };
}

/** Logs a failed model call that will be retried. The last failure is logged with the end of the run. */
function logAttempt(
  logger: Logger,
  { runId, asked }: PreparedRun,
  { failure, next }: Extract<AgentEvent, { type: "attempt" }>,
): void {
  const { provider, model, code, message } = failure;
  const facts = { run: runId, message: asked.id, model: `${provider}/${model}`, code, err: message };
  logger.warn({ ...facts, next: `${next.kind} ${next.provider}/${next.model}` }, "a model call failed");
}

/** Returns true if people may have seen part of the answer. */
function isShown({ live, drafts, blocks }: GatewayContext, { sessionKey, runId }: PreparedRun): boolean {
  return live.watched(sessionKey) || drafts.isShown(runId) || blocks.isShown(runId);
}

/** Drops an interrupted answer that no person has seen, so that the history does not contain it. */
function withoutBroken(tail: EndedRun["tail"]): EndedRun["tail"] {
  const last = tail.messages.at(-1);
  const isBroken = last?.role === "assistant" && last.stopReason === "error";
  return isBroken ? { messages: tail.messages.slice(0, -1), seqs: undefined } : tail;
}
