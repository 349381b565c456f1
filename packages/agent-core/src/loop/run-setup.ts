import type { AgentContext, AgentLoopConfig } from "../config.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { RequestView } from "../conversation/request-view.ts";
import { TokenCount } from "../conversation/token-count.ts";
import type { EmitEvent } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import type { Snapshot } from "../snapshot.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { Budget } from "./budget.ts";
import { takeMessages } from "./input.ts";
import { Repeats } from "./repeats.ts";
import { RunLog } from "./run-log.ts";
import { RunStop } from "./run-stop.ts";
import { Window } from "./window.ts";

const GRACE_MS = 1_000;

/** What a run is made of. */
export interface RunSetup {
  readonly config: AgentLoopConfig;
  readonly system: AgentContext["system"];
  readonly conversation: Conversation;
  readonly view: RequestView;
  readonly tools: ToolSet;
  readonly snapshot: Snapshot;
  readonly stop: RunStop;
  readonly signal: AbortSignal;
  readonly log: RunLog;
  readonly budget: Budget;
  readonly repeats: Repeats;
  readonly window: Window;
  readonly graceMs: number;
  readonly now: () => number;
  /** What has come in for a run that is under way. */
  readonly takeSteering: () => Promise<readonly AgentMessage[]>;
  /** What is to be done once the run would rest. */
  readonly takeFollowUps: () => Promise<readonly AgentMessage[]>;
}

/** @throws AgentError `invalid_tool` */
export function setUpRun(
  conversation: Conversation,
  context: Pick<AgentContext, "system" | "tools">,
  config: AgentLoopConfig,
  emit: EmitEvent,
  snapshot: Snapshot,
): RunSetup {
  const tools = new ToolSet(context.tools);
  const tokens = new TokenCount(conversation.messages);
  const view = new RequestView(conversation, config.convertToLlm, config.context?.historyTurns);
  const budget = new Budget(config.limits);
  const log = new RunLog(conversation, tokens, emit, config.onStep);
  const stop = new RunStop(config.signal, config.limits?.wallMs);
  const { signal } = stop;
  const now = config.now ?? Date.now;
  const graceMs = config.abortGraceMs ?? GRACE_MS;
  const takeFrom = async (source: AgentLoopConfig["steering"]): Promise<readonly AgentMessage[]> =>
    log.take(await takeMessages(source, signal, graceMs));
  return {
    config,
    system: context.system,
    conversation,
    view,
    tools,
    snapshot,
    stop,
    signal,
    log,
    budget,
    repeats: new Repeats(config.repeat),
    window: new Window({ config, conversation, view, tokens, tools, budget, signal, now }),
    graceMs,
    now,
    takeSteering: () => takeFrom(config.steering),
    takeFollowUps: () => takeFrom(config.followUps),
  };
}
