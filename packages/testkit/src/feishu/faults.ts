/** An outage to act out: the next requests that match `method` and `path` go wrong. */
export interface FeishuFault {
  /**
   * - `status`: answers `status` (default 500) and does nothing.
   * - `code`: answers Feishu's error `code` and does nothing.
   * - `hang`: does what was asked and never answers.
   * - `cut`: does what was asked and breaks the connection.
   * - `rate`: answers 429 with the gateway's rate-limit code; `resetSeconds` goes into its header where given.
   */
  readonly kind: "status" | "code" | "hang" | "cut" | "rate";
  readonly method?: string;
  /** A part of the path. Default: messages only, so that tokens go on working. */
  readonly path?: string;
  readonly status?: number;
  readonly code?: number;
  readonly resetSeconds?: number;
  /** How many requests. Default 1. */
  readonly times?: number;
}

/** Hands out the scripted faults, each as often as it says. */
export class Faults {
  readonly #waiting: { fault: FeishuFault; left: number }[] = [];

  add(fault: FeishuFault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  take(method: string, path: string): FeishuFault | undefined {
    const index = this.#waiting.findIndex(
      ({ fault }) =>
        (fault.method === undefined || fault.method === method) &&
        path.includes(fault.path ?? "/im/v1/messages"),
    );
    const found = this.#waiting[index];
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#waiting.splice(index, 1);
    return found.fault;
  }
}
