import type { AgentEvent, AgentLoopConfig, CompactionCache, ToolCallBlock } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import type { BlockReplies, Drafts, Typing } from "@signalbox/delivery";
import { draftText, READING } from "@signalbox/prompt";
import {
  createLiveView,
  type DurableRun,
  type EndedRun,
  type LiveView,
  runDurably,
  type Waiting,
  type WaitingRuns,
} from "@signalbox/runs";
import type { LiveHub } from "@signalbox/server";
import type { LeaseToken, RunId } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { Flush } from "../../agent/memories.ts";
import { samplingOf } from "../../agent/sampling.ts";
import type { Spending } from "../../agent/spending.ts";
import type { GatewayHooks } from "../../hooks/hook-points.ts";
import { createRunTeller } from "../../hooks/run-teller.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { GatewayStore } from "../../store.ts";
import { isHeard } from "../4-queue/message.ts";
import type { PreparedRun } from "../5-prepare/prepare.ts";
import { createSteering, type SteeringPorts } from "./steering.ts";

export interface RunPorts extends SteeringPorts {
  readonly store: Pick<GatewayStore, "runs" | "sessions">;
  readonly lease: LeaseToken;
  readonly waitingRuns: Pick<WaitingRuns, "of">;
  readonly drafts: Pick<Drafts, "watch" | "isShown">;
  readonly blocks: Pick<BlockReplies<RunId>, "watch" | "isShown">;
  readonly typing: Pick<Typing, "begin">;
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly hooks: Pick<GatewayHooks, "observe">;
  readonly live: Pick<LiveHub, "publish" | "retract" | "watched">;
  readonly metrics: Pick<Metrics, "watchModel">;
  /** Summaries of chunks, so that an interrupted compaction continues where it stopped. */
  readonly compactionCache: CompactionCache;
  /** What to save before a summary replaces older messages. */
  readonly flush: Flush;
  readonly spending: Pick<Spending, "forMessage">;
  /** The beginning of what a call was given. Secrets go before it is cut: half of one would stay. */
  readonly excerpt: (args: string) => string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** A run whose agent is done; its end is not on record yet. */
export interface RunEnded extends EndedRun {
  readonly run: PreparedRun;
  /** One text a model turn. */
  readonly texts: readonly string[];
}

/**
 * Lets the agent work: model turns and tool calls, each step recorded before the next effect. Undefined if the gateway
 * stops first: the next start continues.
 */
export type Run = (run: PreparedRun) => Promise<RunEnded | undefined>;

export function createRun(ports: RunPorts): Run {
  return async (prepared) => {
    const { runId, sessionKey, asked, handle, tools, taint } = prepared;
    const waiting = ports.waitingRuns.of(runId, handle);
    const run = withinBudgets(ports, prepared, waiting);
    const view = createLiveView({
      runId,
      earlier: run.earlier,
      reading: READING,
      now: ports.now,
      publish: (event) => ports.live.publish(sessionKey, event),
      retract: () => ports.live.retract(sessionKey),
      note: (stage, text, data) => ports.tracer.note(asked.id, stage, text, data),
      excerpt: ports.excerpt,
    });
    const stopTyping = isHeard(asked)
      ? ports.typing.begin(runId, asked.stored.event, run.input === undefined)
      : () => {};
    try {
      const ended = await runDurably(durableRun(ports, run, waiting), watcher(ports, run, view));
      if (ended === undefined) return undefined;
      await taint.keep({ sources: tools.taint(), speakers: [] });
      const { result, tail } = ended;
      return { run, result, tail: isShown(ports, run) ? tail : withoutBroken(tail), texts: view.texts() };
    } finally {
      stopTyping();
    }
  };
}

function durableRun(ports: RunPorts, run: PreparedRun, waiting: Waiting): DurableRun {
  const { runId, sessionKey, handle, tools } = run;
  const steering = createSteering(ports, run);
  return {
    context: {
      system: run.system,
      history: run.history,
      tools: tools.tools,
      ...(run.input === undefined ? {} : { input: run.input }),
    },
    config: { ...loopConfig(ports, run), steering: () => steering.next() },
    journal: {
      store: ports.store,
      lease: ports.lease,
      runId,
      sessionKey,
      places: run.places,
      effects: tools.effects,
      calls: run.calls,
      takeSteered: () => steering.takeJoined(),
    },
    isRepeatable,
    waiting,
    isLeft: () => handle.signal.reason instanceof ShutdownAbort,
  };
}

/** A message that a call sends has a key of its call: made again, it is the same message. */
function isRepeatable({ name, args }: ToolCallBlock): boolean {
  return name === "message" && (args?.["action"] === "send" || args?.["action"] === "poll");
}

/** A client that waits for one answer can decide nothing in between. */
function withinBudgets({ spending, definition }: RunPorts, run: PreparedRun, waiting: Waiting): PreparedRun {
  const { channel, account } = run.asked.stored.event;
  const canAsk = definition(channel, account)?.capabilities.awaitsSingleAnswer !== true;
  const agentModel = spending.forMessage(run.agentModel, run.asked, canAsk ? waiting.during : undefined);
  return { ...run, agentModel };
}

function loopConfig(ports: RunPorts, run: PreparedRun): AgentLoopConfig {
  const { agent, agentModel, sessionKey, tools, taint } = run;
  const beforeCompaction = ports.flush({ ...run, role: tools.role, taint: tools.taint });
  return {
    model: agentModel.model,
    stream: agentModel.stream,
    streamOptions: {
      thinking: agent.thinking,
      sessionId: sessionKey,
      // An answer that broke off is asked for again as long as nobody has seen any of it.
      shown: () => isShown(ports, run),
      ...samplingOf(agent, run.asked.stored.event.turn),
    },
    signal: run.handle.signal,
    limits: isHeard(run.asked) ? agent.limits : agent.subAgents.limits,
    context: {
      compaction: { cache: ports.compactionCache },
      ...(agent.historyTurns === undefined ? {} : { historyTurns: agent.historyTurns }),
    },
    ...(beforeCompaction === undefined ? {} : { beforeCompaction }),
    transformContext: (messages) => run.contexts.apply(messages),
    beforeToolCall: tools.beforeToolCall,
    onAsk: tools.onAsk,
    async onStep(step) {
      // A result must not be on record before what it brought in is: the run may go on in another process.
      if (step.kind === "toolResult") await taint.keep({ sources: tools.taint(), speakers: [] });
    },
    now: ports.now,
  };
}

/** Shows the run to people and programs while it works. */
function watcher(ports: RunPorts, run: PreparedRun, view: LiveView): (event: AgentEvent) => void {
  const { agent, sessionKey, runId, messages, asked, handle, sentByTool, agentModel } = run;
  const { event } = asked.stored;
  const carries = ports.definition(event.channel, event.account)?.capabilities.sendMedia !== undefined;
  const watched = {
    runId,
    event,
    signal: handle.signal,
    visible: () => draftText(view, sentByTool, carries),
    standing: () => draftText(view, sentByTool),
  };
  const showOnPlatform = isHeard(asked)
    ? (ports.blocks.watch(watched) ?? ports.drafts.watch(watched))
    : undefined;
  const model = `${agentModel.model.provider}/${agentModel.model.id}`;
  const watchModel = ports.metrics.watchModel(model);
  const tellHooks = createRunTeller(ports.hooks, {
    agentId: agent.id,
    sessionKey,
    runId,
    model,
    messageIds: messages.map(({ stored }) => stored.event.messageId),
    // What goes on after a restart has no new input.
    goesOn: run.input === undefined,
  });
  return (happened) => {
    view.see(happened);
    watchModel(happened);
    tellHooks(happened);
    if (happened.type === "attempt") logAttempt(ports.logger, run, happened);
    if (happened.type === "text.delta" || happened.type === "message") showOnPlatform?.();
  };
}

/** A model call that failed, and after which another one is made: the last one is logged with the end of the run. */
function logAttempt(
  logger: Logger,
  { runId, asked }: PreparedRun,
  { failure, next }: Extract<AgentEvent, { type: "attempt" }>,
): void {
  const { provider, model, code, message } = failure;
  const facts = { run: runId, message: asked.id, model: `${provider}/${model}`, code, err: message };
  logger.warn({ ...facts, next: `${next.kind} ${next.provider}/${next.model}` }, "a model call failed");
}

/** Whether people may have seen what was written. */
function isShown({ live, drafts, blocks }: RunPorts, { sessionKey, runId }: PreparedRun): boolean {
  return live.watched(sessionKey) || drafts.isShown(runId) || blocks.isShown(runId);
}

/**
 * What a run leaves, without a broken-off answer that no one has seen: in the history it would look like something that
 * was said.
 */
function withoutBroken(tail: EndedRun["tail"]): EndedRun["tail"] {
  const last = tail.messages.at(-1);
  const isBroken = last?.role === "assistant" && last.stopReason === "error";
  return isBroken ? { messages: tail.messages.slice(0, -1), places: undefined } : tail;
}
