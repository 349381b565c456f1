import type { ActivityFrame } from "@signalbox/protocol";
import type { GatewayService } from "../service.ts";
import { isDelta } from "./session-log.ts";

/** Delay between an event and the next poll. Events come in bursts, and one poll covers a burst. */
const SOON_MS = 250;
/** Poll interval without events. The queue, background commands and schedules emit none. */
const POLL_MS = 2_000;

type Show = (frame: ActivityFrame) => void;

/**
 * Calls `show` with the activity of the whole gateway, immediately and after each change.
 *
 * @returns a function that ends the subscription
 */
export type ActivityWatch = (show: Show) => () => void;

export interface ActivityWatchOptions {
  readonly service: Pick<GatewayService, "activity" | "live">;
  readonly onError: (error: unknown) => void;
  /** Starts a timer and returns a function that cancels it. Default `setTimeout`. */
  readonly later?: (callback: () => void, ms: number) => () => void;
}

/** Shares one poll loop between all viewers. It runs only while there is a viewer. */
export function createActivityWatch(options: ActivityWatchOptions): ActivityWatch {
  const viewers = new Set<Show>();
  let shown: ActivityFrame | undefined;
  let stop: (() => void) | undefined;
  const showAll = (frame: ActivityFrame): void => {
    shown = frame;
    for (const show of viewers) show(frame);
  };
  return (show) => {
    viewers.add(show);
    if (shown !== undefined) show(shown);
    stop ??= pollActivity(showAll, options);
    return () => {
      viewers.delete(show);
      if (viewers.size > 0) return;
      stop?.();
      stop = undefined;
      shown = undefined;
    };
  };
}

/** Polls the activity shortly after each event of a run, and every 2 s without events. */
function pollActivity(
  show: Show,
  { service, onError, later = startTimer }: ActivityWatchOptions,
): () => void {
  let shown = "";
  let isStopped = false;
  let isPolling = false;
  /** An event has arrived since the last poll began. */
  let isStale = false;
  let cancel = (): void => {};

  const poll = async (): Promise<void> => {
    isPolling = true;
    isStale = false;
    try {
      const activity = await service.activity();
      const text = JSON.stringify(activity);
      if (!isStopped && text !== shown) show({ type: "activity", activity });
      shown = text;
    } catch (error) {
      onError(error);
    }
    isPolling = false;
    schedule(isStale ? SOON_MS : POLL_MS);
  };
  const schedule = (ms: number): void => {
    cancel();
    if (!isStopped) cancel = later(() => void poll(), ms);
  };
  const unsubscribe = service.live.observe((event) => {
    if (isStale || isDelta(event) || event.type === "tool.update") return;
    isStale = true;
    if (!isPolling) schedule(SOON_MS);
  });
  void poll();
  return () => {
    isStopped = true;
    unsubscribe();
    cancel();
  };
}

function startTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
