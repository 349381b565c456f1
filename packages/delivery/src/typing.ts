import { type Clock, type MessageEvent, reasonOf, systemClock } from "@signalbox/channel";
import type { Logger } from "@signalbox/store/types";
import type { AccountLookup } from "./account.ts";

export interface TypingOptions {
  readonly account: AccountLookup;
  /** Returns whether the indicator is enabled; called for each run. */
  readonly on: () => boolean;
  /** Delay from the start of a run, in milliseconds: a fast answer needs no indicator. Default 2,000. */
  readonly afterMs?: number;
  readonly logger: Pick<Logger, "debug">;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Shows the platform's typing indicator while an answer is being written. Failures are only logged. */
export interface Typing {
  /**
   * Shows the indicator after a delay.
   *
   * @param resumed an earlier process may have left the indicator on
   * @returns a function that removes the indicator
   */
  begin(runId: string, event: MessageEvent, resumed: boolean): () => void;
  /** Resolves when no removal is in progress. */
  idle(): Promise<void>;
}

const AFTER_MS = 2_000;
/** Time limit for a request in milliseconds. Longer than the request timeout of any channel. */
const REQUEST_TIMEOUT_MS = 20_000;

export function createTyping(options: TypingOptions): Typing {
  const { account, on, afterMs = AFTER_MS, logger, clock = systemClock } = options;
  const removals = new Set<Promise<void>>();

  return {
    begin(runId, event, resumed) {
      const { running, definition } = account(event.channel, event.account) ?? {};
      // A native command of the platform has no message to attach an indicator to.
      if (!on() || running?.typing === undefined || definition === undefined || event.messageId === "")
        return () => {};
      const to = definition.codec.decode(event.address);
      const set = async (state: boolean): Promise<void> => {
        try {
          const indicator = { on: state, messageId: event.messageId };
          await running.typing?.(to, indicator, AbortSignal.timeout(REQUEST_TIMEOUT_MS));
        } catch (error) {
          logger.debug({ run: runId, err: reasonOf(error) }, "the typing indicator could not be changed");
        }
      };
      let lastChange: Promise<void> | undefined = resumed ? Promise.resolve() : undefined;
      const ended = new AbortController();
      clock.delay(afterMs, ended.signal).then(
        () => {
          lastChange = set(true);
        },
        () => {},
      );
      return () => {
        ended.abort();
        if (lastChange === undefined) return;
        const removal = lastChange.then(() => set(false));
        removals.add(removal);
        void removal.finally(() => removals.delete(removal));
      };
    },
    async idle() {
      while (removals.size > 0) await Promise.all(removals);
    },
  };
}
