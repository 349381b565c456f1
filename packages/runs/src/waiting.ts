import type { JournalEntry } from "@signalbox/agent-core";
import type { LeaseToken, RunId } from "@signalbox/store/types";
import type { JournalStore } from "./store.ts";

/** Tracks whether a run is only waiting for a person. */
export interface Waiting {
  /** Asks a person and returns the response. */
  readonly during: <T>(ask: () => T | Promise<T>) => Promise<T>;
  /** Await this before the entry is recorded. Throws store errors. */
  onJournalEntry(entry: JournalEntry): Promise<void>;
}

/** The runs in this process that are waiting for people. */
export interface WaitingRuns {
  /** Tracks one attempt of a run. */
  track(runId: RunId, slot: RunSlot): Waiting;
  /** Ends the waiting state of a run whose attempt failed because of the store. Throws store errors. */
  clear(runId: RunId): Promise<void>;
  /** Ends the waiting state of all runs. */
  clearAll(): Promise<void>;
}

/** The concurrency slot that a run occupies. */
interface RunSlot {
  /** Frees the slot while the run is only waiting. */
  standBy(on: boolean): void;
}

export interface WaitingRunsOptions {
  readonly store: { readonly runs: Pick<JournalStore, "wait"> };
  readonly lease: LeaseToken;
  /** Called if the waiting state could not be recorded. The run waits anyway. */
  readonly onFailure: (runId: RunId, error: unknown) => void;
}

/**
 * Records which runs are only waiting for a person. Such a run frees its slot, and a crash does not count against its
 * messages, because it cannot have caused the crash. The crash does count if another call of the run was in progress at
 * the same time.
 */
export function createWaitingRuns({ store, lease, onFailure }: WaitingRunsOptions): WaitingRuns {
  /** Ids of runs recorded as waiting. A run may be attempted several times in this process but is recorded once. */
  const recorded = new Set<RunId>();
  /** The last write of each run that has writes in flight. */
  const writes = new Map<RunId, Promise<void>>();

  const write = async (runId: RunId, waiting: boolean): Promise<void> => {
    if (waiting === recorded.has(runId)) return;
    try {
      await store.runs.wait({ runId, lease, waiting });
    } catch (error) {
      if (hasEnded(error)) recorded.delete(runId);
      throw error;
    }
    if (waiting) recorded.add(runId);
    else recorded.delete(runId);
  };

  /** Writes one after the other, so that the last state is the one that is stored. */
  const note = (runId: RunId, isWaiting: () => boolean): Promise<void> => {
    const before = writes.get(runId) ?? Promise.resolve();
    const next = before.then(() => write(runId, isWaiting()));
    const done = next
      .catch(() => {})
      .then(() => {
        if (writes.get(runId) === done) writes.delete(runId);
      });
    writes.set(runId, done);
    return next;
  };

  const clear = (runId: RunId): Promise<void> => note(runId, () => false);

  return {
    track: (runId, slot) =>
      createWaiting({
        slot,
        onFailure: (error) => onFailure(runId, error),
        isRecorded: () => recorded.has(runId),
        note: (isWaiting) => note(runId, isWaiting),
      }),
    clear,
    async clearAll() {
      const open = new Set([...recorded, ...writes.keys()]);
      await Promise.all(
        [...open].map((runId) =>
          clear(runId).catch((error: unknown) => {
            if (!hasEnded(error)) throw error;
          }),
        ),
      );
    },
  };
}

interface WaitingContext {
  readonly slot: RunSlot;
  readonly isRecorded: () => boolean;
  readonly note: (isWaiting: () => boolean) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

function createWaiting({ slot, isRecorded, note, onFailure }: WaitingContext): Waiting {
  let questions = 0;
  const calls = new Set<string>();
  const isWaiting = (): boolean => questions > 0 && calls.size === 0;
  const update = (): Promise<void> => {
    slot.standBy(isWaiting());
    return note(isWaiting);
  };
  return {
    async during(ask) {
      questions++;
      await update().catch(onFailure);
      try {
        return await ask();
      } finally {
        questions--;
        await update();
      }
    },
    async onJournalEntry(entry) {
      if (entry.kind === "toolStart") calls.add(entry.call.id);
      else if (entry.kind === "toolResult") calls.delete(entry.message.toolCallId);
      else return;
      if (questions > 0 || isRecorded()) await update();
    },
  };
}

/** Returns true if the run has ended, which also ends the wait. */
function hasEnded(error: unknown): boolean {
  return error instanceof Error && "code" in error && ENDED.has(error.code);
}

const ENDED: ReadonlySet<unknown> = new Set(["conflict", "not_found"]);
