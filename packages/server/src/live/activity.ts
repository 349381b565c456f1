import type { ActivityFrame } from "@signalbox/protocol";
import type { GatewayService } from "../service.ts";
import { isDelta } from "./session-log.ts";

/** Events come in bursts: what one changes is looked at together with what follows it. */
const SOON_MS = 250;
/** The queue, commands in the background and schedules tell nothing of themselves. */
const AGAIN_MS = 2_000;

export interface ActivityWatchOptions {
  readonly service: Pick<GatewayService, "activity" | "live">;
  readonly show: (frame: ActivityFrame) => void;
  readonly onError: (error: unknown) => void;
  /** Calls back after so many milliseconds unless the function that it returns was called. */
  readonly later?: (callback: () => void, ms: number) => () => void;
}

/**
 * Shows what goes on in the whole gateway, at once and whenever it has changed: events of runs lead to a look at it,
 * and so does time.
 *
 * @returns the function that ends that
 */
export function watchActivity({ service, show, onError, later = afterMs }: ActivityWatchOptions): () => void {
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
