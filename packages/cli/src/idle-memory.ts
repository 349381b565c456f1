import { type EventLoopUtilization, performance } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface IdleMemoryOptions {
  /** Collects garbage and gives what it frees back to the system. */
  readonly collect: () => void;
  /** Bytes the heap has taken from the system. */
  readonly heapSize: () => number;
  /** Share of the time since `since` in which the event loop was at work, from 0 to 1. */
  readonly utilization: (since: EventLoopUtilization) => number;
  readonly mark: () => EventLoopUtilization;
}

/** How often the process looks at itself, and how many quiet looks in a row make it idle. */
const LOOK_MS = 1_000;
const QUIET_LOOKS = 3;
/** Below this share of the time the event loop counts as quiet. */
const QUIET_SHARE = 0.02;
/** Less growth than this is not worth a pause. */
const GROWTH_BYTES = 12 * 1_048_576;

/**
 * Gives memory back after a burst of work. The engine itself keeps what a heap once needed, for as long as little is
 * allocated; a service that is idle for most of the day would hold the memory of its busiest minute. The collection
 * stops the process for some tens of milliseconds, once after its start and after each burst, when nothing has been
 * going on for seconds.
 */
export function releaseIdleMemory(options: IdleMemoryOptions = thisProcess()): () => void {
  let since = options.mark();
  let quiet = 0;
  let settled = 0;
  const timer = setInterval(() => {
    quiet = options.utilization(since) < QUIET_SHARE ? quiet + 1 : 0;
    since = options.mark();
    const size = options.heapSize();
    settled = Math.min(settled, size);
    if (quiet < QUIET_LOOKS || size - settled < GROWTH_BYTES) return;
    options.collect();
    settled = options.heapSize();
    quiet = 0;
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function thisProcess(): IdleMemoryOptions {
  let collector: ((how: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void) | undefined;
  return {
    collect() {
      if (collector === undefined) {
        // The function exists only in contexts made while the flag is set.
        setFlagsFromString("--expose-gc");
        collector = runInNewContext("gc");
        setFlagsFromString("--no-expose-gc");
      }
      collector?.({ type: "major", execution: "sync", flavor: "last-resort" });
    },
    heapSize: () => getHeapStatistics().total_heap_size,
    utilization: (since) => performance.eventLoopUtilization(since).utilization,
    mark: () => performance.eventLoopUtilization(),
  };
}
