import type { ChannelContext } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** Typing indicators. Discord shows each for ten seconds. */
export interface TypingSigns {
  /**
   * Shows the indicator and renews it until it is hidden.
   *
   * @throws ChannelError if the first attempt to show it fails
   */
  show(channelId: string, signal: AbortSignal): Promise<void>;
  hide(channelId: string): void;
  hideAll(): void;
}

/** @param post shows the indicator once */
export function createTypingSigns(
  { clock, signal: life }: Pick<ChannelContext, "clock" | "signal">,
  post: (channelId: string, signal: AbortSignal) => Promise<void>,
): TypingSigns {
  const shown = new Map<string, AbortController>();

  function hide(channelId: string): void {
    shown.get(channelId)?.abort();
    shown.delete(channelId);
  }

  async function keep(channelId: string, ended: AbortSignal): Promise<void> {
    for (let times = 0; times < limits.typingTimes; times += 1) {
      await clock.delay(limits.typingMs, ended);
      await post(channelId, ended);
    }
  }

  return {
    async show(channelId, signal) {
      hide(channelId);
      const sign = new AbortController();
      shown.set(channelId, sign);
      await post(channelId, signal);
      // A renewal that fails only ends the indicator.
      keep(channelId, AbortSignal.any([sign.signal, life])).catch(() => {});
    },
    hide,
    hideAll() {
      for (const channelId of shown.keys()) hide(channelId);
    },
  };
}
