import {
  type AgentContext,
  type AgentEvent,
  type AgentLoopConfig,
  type PendingCall,
  type RunResult,
  runAgentLoop,
} from "@signalbox/agent-core";
import { createJournal, type Journal, type JournalOptions, type RunTail } from "./journal.ts";
import { decideOpenCall } from "./open-calls.ts";
import type { Waiting } from "./waiting.ts";

/** A run of an agent whose beginning is on record. */
export interface DurableRun {
  /** What the run works on. For a continued run, `history` holds what it did before, and there is no `input`. */
  readonly context: AgentContext;
  /** How it behaves. A call that an earlier process left open is decided about by {@link decideOpenCall}. */
  readonly config: Omit<AgentLoopConfig, "onPendingCall">;
  readonly journal: JournalOptions;
  /** Which calls may be made again though an earlier process has begun them. Default: none. */
  readonly isRepeatable?: (call: PendingCall["call"]) => boolean;
  /** Notes that the run waits for a person while `config.onAsk` does. Default: it is not noted. */
  readonly waiting?: Waiting;
  /** Whether an abort leaves the run to the next process. Default: an abort ends it. */
  readonly isLeft?: () => boolean;
}

/** A run whose agent is done. Its end is not on record yet: that is the host's, with all that follows from it. */
export interface EndedRun {
  readonly result: RunResult;
  /** What is still to be committed, with the end. */
  readonly tail: RunTail;
}

/**
 * Lets an agent work, each step on record before the next effect. Undefined where the run is left to the next process:
 * all that it did is on record then.
 *
 * By the loop itself and not by agent-core's `Agent`: that one keeps a conversation and its queue in its own memory,
 * while here the store has them, and either may go on in another process.
 *
 * @throws what the store throws; the journal is the truth then
 */
export async function runDurably(
  run: DurableRun,
  emit: (event: AgentEvent) => void,
): Promise<EndedRun | undefined> {
  const { context, config, waiting } = run;
  const { onAsk, onStep } = config;
  const journal = createJournal(run.journal);
  try {
    const result = await runAgentLoop(
      context,
      {
        ...config,
        ...(onAsk === undefined ? {} : { onAsk: (info) => asked(journal, waiting, () => onAsk(info)) }),
        onPendingCall: (pending) => decideOpenCall(pending, run.journal.calls ?? [], run.isRepeatable),
        async onStep(step) {
          await onStep?.(step);
          await waiting?.onStep(step);
          await journal.onStep(step);
        },
      },
      emit,
    );
    // A question is only left open where nobody here can wait for its answer.
    if (run.isLeft?.() === true || result.reason === "waiting") {
      await journal.flush();
      return undefined;
    }
    return { result, tail: await journal.end() };
  } catch (error) {
    await journal.flush();
    throw error;
  } finally {
    journal.close();
  }
}

/** On record first: what a person is asked about must be the same after a crash, and asked once. */
async function asked<T>(
  journal: Journal,
  waiting: Waiting | undefined,
  ask: () => T | Promise<T>,
): Promise<T> {
  await journal.commit();
  return waiting === undefined ? ask() : waiting.during(ask);
}
