import type { LiveEvent } from "@signalbox/protocol";
import type { LiveListener } from "./hub.ts";
import { isDelta, type LoggedEvent } from "./session-log.ts";

/** Minimum interval between two updates of a viewer, in milliseconds. */
const INTERVAL_MS = 150;

/** Merges text deltas and tool progress before they reach a viewer. */
export interface Coalescer {
  readonly push: LiveListener;
  /** Emits buffered events now. */
  flush(): void;
  /** Drops buffered events and stops. */
  end(): void;
}

/**
 * Emits the first delta or progress event immediately, and then at most every 150 ms the events since: deltas of one
 * text are concatenated, and of the progress of a tool call only the latest event remains. Other events are emitted
 * immediately, after all buffered events.
 *
 * @param later starts a timer and returns a function that cancels it
 */
export function createCoalescer(
  emit: LiveListener,
  later: (callback: () => void, ms: number) => () => void = startTimer,
): Coalescer {
  let buffered: readonly LoggedEvent[] = [];
  let cancel: (() => void) | undefined;

  const flush = (): void => {
    const events = buffered;
    buffered = [];
    for (const { event, cursor } of events) emit(event, cursor);
  };
  const tick = (): void => {
    cancel = buffered.length === 0 ? undefined : later(tick, INTERVAL_MS);
    flush();
  };
  return {
    push(event, cursor) {
      if (!isDelta(event) && event.type !== "tool.update") {
        flush();
        emit(event, cursor);
      } else if (cancel !== undefined) {
        buffered = append(buffered, { event, cursor });
      } else {
        emit(event, cursor);
        cancel = later(tick, INTERVAL_MS);
      }
    },
    flush,
    end() {
      cancel?.();
      cancel = undefined;
      buffered = [];
    },
  };
}

/** Appends an event. A delta extends the last delta of the same run, and progress replaces older progress. */
function append(buffered: readonly LoggedEvent[], { event, cursor }: LoggedEvent): readonly LoggedEvent[] {
  const last = buffered.at(-1)?.event;
  if (isDelta(event) && last?.type === event.type && last.runId === event.runId) {
    return buffered.with(-1, { event: { ...event, delta: last.delta + event.delta }, cursor });
  }
  return [...buffered.filter((each) => !isReplacedBy(each.event, event)), { event, cursor }];
}

/** Progress of a tool call is cumulative, so a later event replaces an earlier one. */
function isReplacedBy(event: LiveEvent, later: LiveEvent): boolean {
  return event.type === "tool.update" && later.type === "tool.update" && event.call.id === later.call.id;
}

function startTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
