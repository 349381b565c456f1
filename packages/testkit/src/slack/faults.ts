import { type ApiReply, rateLimited, refuse } from "./reply.ts";

/** A simulated outage. The next calls of a matching method fail. */
export interface SlackFault {
  /**
   * - `status`: responds with HTTP `status` (default 500) without an effect.
   * - `error`: responds with Slack's error code `error` without an effect.
   * - `rate`: responds with 429; `retryAfter` seconds go into its header if given.
   * - `hang`: carries out the request and never responds.
   * - `cut`: carries out the request and breaks the connection.
   * - `hold`: carries out the request and responds after `until`.
   */
  readonly kind: "status" | "error" | "rate" | "hang" | "cut" | "hold";
  readonly until?: Promise<unknown>;
  /** Part of the method's name, for instance `chat.`. Default: `chat.postMessage`. */
  readonly method?: string;
  readonly status?: number;
  readonly error?: string;
  readonly retryAfter?: number;
  /** Number of calls. Default: 1. */
  readonly times?: number;
}

/** Returns the scripted faults, each for its number of calls. */
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

/**
 * Returns the response for a fault without an effect, or `undefined` for faults that occur after the call was carried
 * out.
 */
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
