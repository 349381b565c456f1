import type { Step } from "@signalbox/agent-core";
import type { LeaseToken, RunId } from "@signalbox/store/types";
import type { JournalStore } from "./store.ts";

/** Knows when a run does nothing but wait for a person. */
export interface Waiting {
  /** Asks a person, and gives the answer. */
  readonly during: <T>(ask: () => T | Promise<T>) => Promise<T>;
  /** To be awaited before the step is kept. Throws what a failing store throws. */
  onStep(step: Step): Promise<void>;
}

/** Which runs of this process wait for people. */
export interface WaitingRuns {
  /** For one try of a run. */
  of(runId: RunId, place: Place): Waiting;
  /**
   * A run that a failing store broke off does not wait any more, whatever that try could put on record. Throws what a
   * failing store throws.
   */
  over(runId: RunId): Promise<void>;
  /** No run waits any more. */
  allOver(): Promise<void>;
}

/** The place that a run has among those that may go on at once. */
export interface Place {
  /** Others go on in it meanwhile. */
  standBy(on: boolean): void;
}

export interface WaitingRunsOptions {
  readonly store: { readonly runs: Pick<JournalStore, "wait"> };
  readonly lease: LeaseToken;
  /** That a run waits could not be put on record. Whoever is asked is asked all the same; the next write will tell. */
  readonly onFailure: (runId: RunId, error: unknown) => void;
}

/**
 * A run that only waits for a person cannot be what ends the process: dying meanwhile, for whatever reason and however
 * often, does not count against its messages. It does while another of its calls runs beside the question. Nor does
 * such a run keep others from going on.
 */
export function createWaitingRuns({ store, lease, onFailure }: WaitingRunsOptions): WaitingRuns {
  /** Those on record as waiting. A run may be tried again in this process, and the record must have it only once. */
  const recorded = new Set<RunId>();
  /** The last write of each run that has one under way. */
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

  /** One after the other: what is noted last is how it is. */
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

  const over = (runId: RunId): Promise<void> => note(runId, () => false);

  return {
    of: (runId, place) =>
      createWaiting({
        place,
        onFailure: (error) => onFailure(runId, error),
        isRecorded: () => recorded.has(runId),
        note: (isWaiting) => note(runId, isWaiting),
      }),
    over,
    async allOver() {
      const open = new Set([...recorded, ...writes.keys()]);
      await Promise.all(
        [...open].map((runId) =>
          over(runId).catch((error: unknown) => {
            if (!hasEnded(error)) throw error;
          }),
        ),
      );
    },
  };
}

interface WaitingPorts {
  readonly place: Place;
  readonly isRecorded: () => boolean;
  readonly note: (isWaiting: () => boolean) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** For one try of a run. */
function createWaiting({ place, isRecorded, note, onFailure }: WaitingPorts): Waiting {
  let asked = 0;
  const calls = new Set<string>();
  const isWaiting = (): boolean => asked > 0 && calls.size === 0;
  const settle = (): Promise<void> => {
    place.standBy(isWaiting());
    return note(isWaiting);
  };
  return {
    async during(ask) {
      asked++;
      await settle().catch(onFailure);
      try {
        return await ask();
      } finally {
        asked--;
        await settle();
      }
    },
    async onStep(step) {
      if (step.kind === "toolStart") calls.add(step.call.id);
      else if (step.kind === "toolResult") calls.delete(step.message.toolCallId);
      else return;
      if (asked > 0 || isRecorded()) await settle();
    },
  };
}

/** Whether the run is over, and with it whatever it waited for. */
function hasEnded(error: unknown): boolean {
  return error instanceof Error && "code" in error && ENDED.has(error.code);
}

const ENDED: ReadonlySet<unknown> = new Set(["conflict", "not_found"]);
