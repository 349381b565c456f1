import type { Step } from "@signalbox/agent-core";
import type { RunId } from "@signalbox/store";
import { messageOf } from "../errors.ts";
import type { RunOptions } from "./run.ts";

/** Knows when a run does nothing but wait for a person. */
export interface Asking {
  /** Asks a person, and gives the answer. */
  during<T>(ask: () => T | Promise<T>): Promise<T>;
  /** To be awaited before the step is kept. Throws what a failing store throws. */
  onStep(step: Step): Promise<void>;
}

interface AskingOptions {
  readonly store: { readonly runs: Pick<RunOptions["store"]["runs"], "wait"> };
  readonly lease: RunOptions["lease"];
  readonly logger: Pick<RunOptions["logger"], "warn">;
}

/**
 * A run that only waits for a person cannot be what ends the process: dying meanwhile, for whatever reason and however
 * often, does not count against its messages. It does while another of its calls runs beside the question.
 */
export function createAsking({ store, lease, logger }: AskingOptions, runId: RunId): Asking {
  let asked = 0;
  const calls = new Set<string>();
  let waits = false;
  let last: Promise<void> = Promise.resolve();

  /** One after the other: what is noted last is how it is. */
  const settle = (): Promise<void> => {
    const next = last.then(async () => {
      const waiting = asked > 0 && calls.size === 0;
      if (waiting === waits) return;
      await store.runs.wait({ runId, lease, waiting });
      waits = waiting;
    });
    last = next.catch(() => {});
    return next;
  };

  return {
    async during(ask) {
      asked++;
      await settle().catch((error: unknown) =>
        // Whoever is asked need not suffer from it, and it shows again with the next write.
        logger.warn({ run: runId, err: messageOf(error) }, "that a run waits was not noted"),
      );
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
      if (asked > 0) await settle();
    },
  };
}
