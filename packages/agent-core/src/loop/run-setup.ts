import type { AgentContext, AgentLoopConfig, TakeMessages } from "../config.ts";
import { maxResultChars } from "../context/truncate.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { RequestView } from "../conversation/request-view.ts";
import { TokenCount } from "../conversation/token-count.ts";
import { AgentError } from "../errors.ts";
import type { EmitEvent } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import type { Snapshot } from "../snapshot.ts";
import { ToolSet } from "../tools/tool-set.ts";
import { Budget } from "./budget.ts";
import { race } from "./race.ts";
import { Repeats } from "./repeats.ts";
import { RunLog } from "./run-log.ts";
import { RunStop } from "./run-stop.ts";

const GRACE_MS = 1_000;

/** What a run is made of. */
export interface RunSetup {
  readonly config: AgentLoopConfig;
  readonly system: AgentContext["system"];
  readonly conversation: Conversation;
  readonly view: RequestView;
  readonly tokens: TokenCount;
  readonly tools: ToolSet;
  readonly snapshot: Snapshot;
  readonly stop: RunStop;
  readonly signal: AbortSignal;
  readonly log: RunLog;
  readonly budget: Budget;
  readonly repeats: Repeats;
  readonly graceMs: number;
  /** Characters a tool's result may have. */
  readonly resultChars: number;
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
  const log = new RunLog(conversation, tokens, emit, config.onStep);
  const stop = new RunStop(config.signal, config.limits?.wallMs);
  const { signal } = stop;
  const graceMs = config.abortGraceMs ?? GRACE_MS;
  const takeFrom = async (source: TakeMessages = () => []): Promise<readonly AgentMessage[]> => {
    const given = source();
    if (!(given instanceof Promise)) return log.take(checkInput(given));
    // A queue that has not answered by the end of the grace of a run that has to stop holds nothing.
    const taken = await race(given, { signal, graceMs });
    return taken.done ? log.take(checkInput(taken.value)) : [];
  };
  return {
    config,
    system: context.system,
    conversation,
    view: new RequestView(conversation, config.convertToLlm, config.context?.historyTurns),
    tokens,
    tools,
    snapshot,
    stop,
    signal,
    log,
    budget: new Budget(config.limits),
    repeats: new Repeats(config.repeat),
    graceMs,
    resultChars: config.context?.resultChars ?? maxResultChars(config.model.contextWindow),
    now: config.now ?? Date.now,
    takeSteering: () => takeFrom(config.steering),
    takeFollowUps: () => takeFrom(config.followUps),
  };
}

/** @throws AgentError `invalid_input` */
export function checkInput(messages: readonly AgentMessage[]): readonly AgentMessage[] {
  const wrong = messages.find(({ role }) => role === "assistant" || role === "toolResult");
  if (wrong === undefined) return messages;
  const what = `A message of role "${wrong.role}" belongs into the history, not into the input.`;
  throw new AgentError("invalid_input", what);
}

/** Something the loop itself tells the model. */
export function loopNote(content: string, timestamp: number): AgentMessage {
  return { role: "custom", kind: "continue", content, timestamp };
}
