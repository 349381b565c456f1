import { type Clock, type MessageEvent, reasonOf, systemClock } from "@signalbox/channel";
import type { AccountLookup } from "./account.ts";
import type { DeliveryLogger } from "./logger.ts";

export interface TypingOptions {
  readonly account: AccountLookup;
  /** Whether it is shown at all; asked for each run. */
  readonly on: () => boolean;
  /** Milliseconds from the beginning of a run: an answer that comes sooner needs no typing indicator. Default 2,000. */
  readonly afterMs?: number;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The sign at a platform that an answer is being written. Nothing waits for it, and nothing depends on it. */
export interface Typing {
  /** `resumed`: an earlier process may have left the sign on. Returns what takes it away. */
  begin(runId: string, event: MessageEvent, resumed: boolean): () => void;
  /** Resolves when no sign is being taken away. */
  idle(): Promise<void>;
}

const AFTER_MS = 2_000;
/** Longer than channels let one request take. */
const LONGEST_MS = 20_000;

export function createTyping(options: TypingOptions): Typing {
  const { account, on, afterMs = AFTER_MS, logger, clock = systemClock } = options;
  const beingHidden = new Set<Promise<void>>();

  return {
    begin(runId, event, resumed) {
      const { running, definition } = account(event.channel, event.account) ?? {};
      // Where a command of the platform itself was used there is no message to put a sign on.
      if (!on() || running?.typing === undefined || definition === undefined || event.messageId === "")
        return () => {};
      const to = definition.codec.decode(event.address);
      const show = async (state: boolean): Promise<void> => {
        try {
          const sign = { on: state, messageId: event.messageId };
          await running.typing?.(to, sign, AbortSignal.timeout(LONGEST_MS));
        } catch (error) {
          logger.debug({ run: runId, err: reasonOf(error) }, "the typing sign was not changed");
        }
      };
      let lastChange: Promise<void> | undefined = resumed ? Promise.resolve() : undefined;
      const ended = new AbortController();
      clock.delay(afterMs, ended.signal).then(
        () => {
          lastChange = show(true);
        },
        () => {},
      );
      return () => {
        ended.abort();
        if (lastChange === undefined) return;
        const hidden = lastChange.then(() => show(false));
        beingHidden.add(hidden);
        void hidden.finally(() => beingHidden.delete(hidden));
      };
    },
    async idle() {
      while (beingHidden.size > 0) await Promise.all(beingHidden);
    },
  };
}
