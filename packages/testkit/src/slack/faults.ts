import { type ApiReply, rateLimited, refuse } from "./reply.ts";

/** An outage to act out: the next calls of a matching method go wrong. */
export interface SlackFault {
  /**
   * - `status`: answers HTTP `status` (default 500) and does nothing.
   * - `error`: answers Slack's error word `error` and does nothing.
   * - `rate`: answers 429; `retryAfter` seconds go into its header where given.
   * - `hang`: does what was asked and never answers.
   * - `cut`: does what was asked and breaks the connection.
   * - `hold`: does what was asked and answers after `until`.
   */
  readonly kind: "status" | "error" | "rate" | "hang" | "cut" | "hold";
  readonly until?: Promise<unknown>;
  /** A part of the method's name, for instance `chat.`. Default: `chat.postMessage`. */
  readonly method?: string;
  readonly status?: number;
  readonly error?: string;
  readonly retryAfter?: number;
  /** How many calls. Default 1. */
  readonly times?: number;
}

/** Hands out the scripted faults, each as often as it says. */
export class Faults {
  readonly #waiting: { fault: SlackFault; left: number }[] = [];

  add(fault: SlackFault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  take(method: string): SlackFault | undefined {
    const index = this.#waiting.findIndex(({ fault }) => method.includes(fault.method ?? "chat.postMessage"));
    const next = this.#waiting[index];
    if (next === undefined) return undefined;
    next.left -= 1;
    if (next.left <= 0) this.#waiting.splice(index, 1);
    return next.fault;
  }
}

/** The answer of a fault before which nothing is done; undefined for those that come after. */
export function answerOf(fault: SlackFault | undefined): ApiReply | undefined {
  switch (fault?.kind) {
    case "status":
      return { status: fault.status ?? 500, body: "upstream error" };
    case "error":
      return refuse(fault.error ?? "internal_error");
    case "rate":
      return rateLimited(fault.retryAfter);
    default:
      return undefined;
  }
}
