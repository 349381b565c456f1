import {
  type AgentContext,
  type AgentEvent,
  type AgentLoopConfig,
  type PendingCall,
  type RunResult,
  runAgentLoop,
} from "@signalbox/agent-core";
import { createJournal, type Journal, type JournalOptions, type RunTail } from "./journal.ts";
import { decidePendingCall } from "./pending-calls.ts";
import type { Waiting } from "./waiting.ts";

/** An agent run whose start is recorded in a journal. */
export interface DurableRun {
  /** The input of the run. For a resumed run, `history` contains its earlier messages and there is no `input`. */
  readonly context: AgentContext;
  /**
   * The settings of the loop. {@link decidePendingCall} decides about calls that an earlier process left without a
   * result.
   */
  readonly config: Omit<AgentLoopConfig, "onPendingCall">;
  readonly journal: JournalOptions;
  /** Returns true if a call that an earlier process started may be repeated. Default: no call is repeated. */
  readonly isRepeatable?: (call: PendingCall["call"]) => boolean;
  /** Records that the run is waiting for a person while `config.onAsk` waits. Default: not recorded. */
  readonly waiting?: Waiting;
  /** Returns true if an abort leaves the run to the next process. Default: an abort ends the run. */
  readonly isSuspended?: () => boolean;
}

/** A run whose agent has finished. The host records its end together with all consequences. */
export interface EndedRun {
  readonly result: RunResult;
  /** Messages to commit together with the end of the run. */
  readonly tail: RunTail;
}

/**
 * Runs an agent and records each journal entry before the next effect. Uses the loop of agent-core and not its `Agent`,
 * because the store and not the process keeps the conversation, and another process may continue it.
 *
 * @returns the finished run, or `undefined` if it was left to the next process; everything it did is recorded then
 * @throws what the store throws; the journal is the truth then
 *
 * @example
 * ```ts
 * const ended = await runDurably(
 *   {
 *     context: { system: { stable: "" }, history: [], input: [question], tools },
 *     config: { model, stream },
 *     journal: { store, lease, runId, sessionKey: "ann", seqs: [1], effects: () => "external" },
 *   },
 *   (event) => console.log(event.type),
 * );
 * ```
 */
export async function runDurably(
  run: DurableRun,
  emit: (event: AgentEvent) => void,
): Promise<EndedRun | undefined> {
  const { context, config, waiting } = run;
  const { onAsk, onJournalEntry } = config;
  const journal = createJournal(run.journal);
  try {
    const result = await runAgentLoop(
      context,
      {
        ...config,
        onAsk: onAsk && ((info) => askAfterCommit(journal, waiting, () => onAsk(info))),
        onPendingCall: (pending) => decidePendingCall(pending, run.journal.calls ?? [], run.isRepeatable),
        async onJournalEntry(entry) {
          await onJournalEntry?.(entry);
          await waiting?.onJournalEntry(entry);
          await journal.onJournalEntry(entry);
        },
      },
      emit,
    );
    // A run ends with `waiting` only if nothing in this process is waiting for the response.
    if (run.isSuspended?.() === true || result.reason === "waiting") {
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

/** Commits first, so that after a crash the request refers to the same call and is not repeated. */
async function askAfterCommit<T>(
  journal: Journal,
  waiting: Waiting | undefined,
  ask: () => T | Promise<T>,
): Promise<T> {
  await journal.commit();
  return waiting === undefined ? ask() : waiting.during(ask);
}
