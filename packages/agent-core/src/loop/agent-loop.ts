import type { AgentContext, AgentLoopConfig } from "../config.ts";
import { Conversation } from "../conversation/conversation.ts";
import { AgentError } from "../errors.ts";
import { RunQueue } from "../event-queue.ts";
import type { AgentEvent, EmitEvent, RunResult } from "../events.ts";
import { keepRunShapes } from "./exemplars.ts";
import { Run } from "./run.ts";

/**
 * One run, started by the first who asks for its events or its result. Events are pulled: a run that is 256 events
 * ahead waits. Leaving the iteration early aborts the run.
 */
export interface AgentRun extends AsyncIterable<AgentEvent> {
  /**
   * How the run ended. Without an iteration the events are not kept.
   * @throws AgentError when the input is wrong, there is nothing to do, or a hook of the host failed
   */
  result(): Promise<RunResult>;
}

/**
 * Runs an agent over a conversation: context in, events out, nothing kept. With no `input` it goes on from the end of
 * the history, whose open calls are settled first.
 */
export function agentLoop(context: AgentContext, config: AgentLoopConfig): AgentRun {
  let started: Promise<RunResult> | undefined;
  const start = (emit: EmitEvent, signal = config.signal): Promise<RunResult> => {
    const own = signal === undefined ? config : { ...config, signal };
    started = runAgentLoop(context, own, emit);
    return started;
  };
  return {
    result: () => started ?? start(() => {}),
    [Symbol.asyncIterator](): AsyncIterator<AgentEvent> {
      if (started !== undefined)
        throw new AgentError("busy", "This run has begun; its events can be read once.");
      const controller = new AbortController();
      const onOuter = (): void => controller.abort(config.signal?.reason);
      config.signal?.addEventListener("abort", onOuter);
      if (config.signal?.aborted === true) onOuter();
      const queue = new RunQueue(() => controller.abort(new Error("Nobody reads the events any more.")));
      start((event) => queue.push(event), controller.signal)
        .then(
          () => queue.close(),
          (error: unknown) => queue.close({ error }),
        )
        .finally(() => config.signal?.removeEventListener("abort", onOuter));
      return queue;
    },
  };
}

/**
 * The same run with its events as plain calls: the cheapest way to watch one. `emit` must not throw; a promise it
 * gives is awaited before the run goes on.
 * @throws AgentError as `AgentRun.result`
 */
export async function runAgentLoop(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: EmitEvent,
): Promise<RunResult> {
  keepRunShapes();
  const run = new Run(new Conversation(context.history), context, config, emit);
  return run.execute(context.input ?? []);
}
