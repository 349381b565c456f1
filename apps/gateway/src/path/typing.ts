import type { MessageEvent } from "@signalbox/channel";
import type { RunId } from "@signalbox/store";
import type { Account } from "../channels.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";

export interface TypingOptions {
  readonly account: (channel: string, account: string) => Account | undefined;
  /** Whether it is shown at all. */
  readonly on: boolean;
  /** From the beginning of a run, in milliseconds: an answer that is there by then needs no sign. Default 2,000. */
  readonly afterMs?: number;
  readonly logger: Logger;
}

/** The sign at a platform that an answer is being written. Nothing waits for it, and nothing depends on it. */
export interface Typing {
  /** `resumed`: an earlier process may have left the sign on. Returns what takes it away. */
  begin(runId: RunId, event: MessageEvent, resumed: boolean): () => void;
  /** Resolves when no sign is being taken away. */
  idle(): Promise<void>;
}

const AFTER_MS = 2_000;
/** Longer than channels let one request take. */
const LONGEST_MS = 20_000;

export function createTyping({ account, on, afterMs = AFTER_MS, logger }: TypingOptions): Typing {
  const underWay = new Set<Promise<void>>();

  return {
    begin(runId, event, resumed) {
      const found = account(event.channel, event.account);
      const { running } = found ?? {};
      // Where a command of the platform itself was used there is no message to put a sign on.
      if (!on || found === undefined || running?.typing === undefined || event.messageId === "")
        return () => {};
      const to = found.definition.codec.decode(event.address);
      const show = async (state: boolean): Promise<void> => {
        try {
          const sign = { on: state, messageId: event.messageId };
          await running.typing?.(to, sign, AbortSignal.timeout(LONGEST_MS));
        } catch (error) {
          logger.debug(
            { run: runId, err: messageOf(error) },
            "the sign that somebody writes was not changed",
          );
        }
      };
      let shown: Promise<void> | undefined = resumed ? Promise.resolve() : undefined;
      const timer = setTimeout(() => {
        shown = show(true);
      }, afterMs);
      return () => {
        clearTimeout(timer);
        if (shown === undefined) return;
        const gone = shown.then(() => show(false));
        underWay.add(gone);
        void gone.finally(() => underWay.delete(gone));
      };
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
