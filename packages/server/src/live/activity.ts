import type { ActivityFrame } from "@signalbox/protocol";
import type { GatewayService } from "../service.ts";
import { isDelta } from "./session-log.ts";

/** Events come in bursts: what one changes is looked at together with what follows it. */
const SOON_MS = 250;
/** The queue, commands in the background and schedules tell nothing of themselves. */
const AGAIN_MS = 2_000;

type Show = (frame: ActivityFrame) => void;

/**
 * Shows the activity of the whole gateway, at once and at each change.
 * @returns a function that ends it
 */
export type ActivityWatch = (show: Show) => () => void;

export interface ActivityWatchOptions {
  readonly service: Pick<GatewayService, "activity" | "live">;
  readonly onError: (error: unknown) => void;
  /** Calls back after so many milliseconds unless the function that it returns was called. */
  readonly later?: (callback: () => void, ms: number) => () => void;
}

/** However many watch, the gateway is looked at once for all of them, and not at all while nobody does. */
export function createActivityWatch(options: ActivityWatchOptions): ActivityWatch {
  const viewers = new Set<Show>();
  let shown: ActivityFrame | undefined;
  let end: (() => void) | undefined;
  const showAll = (frame: ActivityFrame): void => {
    shown = frame;
    for (const show of viewers) show(frame);
  };
  return (show) => {
    viewers.add(show);
    if (shown !== undefined) show(shown);
    end ??= watchActivity(showAll, options);
    return () => {
      viewers.delete(show);
      if (viewers.size > 0) return;
      end?.();
      end = undefined;
      shown = undefined;
    };
  };
}

/** Events of runs lead to a look at what goes on, and so does time. */
function watchActivity(show: Show, { service, onError, later = afterMs }: ActivityWatchOptions): () => void {
  let shown = "";
  let isOver = false;
  let isLooking = false;
  /** Something happened since the last look began. */
  let isStale = false;
  let cancel = (): void => {};

  const look = async (): Promise<void> => {
    isLooking = true;
    isStale = false;
    try {
      const activity = await service.activity();
      const text = JSON.stringify(activity);
      if (!isOver && text !== shown) show({ type: "activity", activity });
      shown = text;
    } catch (error) {
      onError(error);
    }
    isLooking = false;
    plan(isStale ? SOON_MS : AGAIN_MS);
  };
  const plan = (ms: number): void => {
    cancel();
    if (!isOver) cancel = later(() => void look(), ms);
  };
  const leave = service.live.observe((event) => {
    if (isStale || isDelta(event) || event.type === "tool.update") return;
    isStale = true;
    if (!isLooking) plan(SOON_MS);
  });
  void look();
  return () => {
    isOver = true;
    leave();
    cancel();
  };
}

function afterMs(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
