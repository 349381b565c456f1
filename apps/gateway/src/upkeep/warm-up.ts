import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@signalbox/telemetry/logger";
import { messageOf } from "../errors.ts";

/** Something that is loaded when it is first used, or before. */
export interface Loadable {
  readonly name: string;
  load(): Promise<unknown>;
}

export interface WarmUpOptions {
  /** In the order in which the first message would wait for them. */
  readonly parts: readonly Loadable[];
  /** Whether people wait for answers just now. */
  readonly busy: () => boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** How long a moment has to be idle before something is loaded, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Loads, one after the other and in idle moments, what the first message after a start would have to wait for. Never
 * rejects: what cannot be loaded is told by whoever needs it.
 */
export async function warmUp({ parts, busy, signal, logger }: WarmUpOptions): Promise<void> {
  for (const { name, load } of parts) {
    do {
      await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
    } while (busy());
    await load().catch((error: unknown) => {
      logger.debug({ part: name, err: messageOf(error) }, "something could not be loaded ahead of its use");
    });
  }
}
