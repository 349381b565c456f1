import type { Logger } from "@signalbox/telemetry/logger";

type AcceptResult =
  | { readonly outcome: "full"; readonly unfinished: number; readonly limit: number }
  | { readonly outcome: "accepted" | "duplicate" };

/** Logs a full inbox once, and again only after there was space, because rejected senders may retry at any rate. */
export class InboxAlarm {
  readonly #logger: Logger;
  #isFull = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  report(result: AcceptResult): void {
    if (result.outcome === "duplicate") return;
    const wasFull = this.#isFull;
    this.#isFull = result.outcome === "full";
    if (result.outcome === "full" && !wasFull)
      this.#logger.warn(
        { unfinished: result.unfinished, limit: result.limit },
        "the inbox is full; new messages are refused until there is room",
      );
  }
}
