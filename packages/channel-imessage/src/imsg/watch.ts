import {
  type ChannelLogger,
  type Clock,
  isPayload,
  type JsonRpc,
  type Payload,
  reasonOf,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import type { Reader } from "../reader.ts";
import { readImsgRow } from "./row.ts";

interface Services {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly logger: ChannelLogger;
  readonly stopped: AbortSignal;
  /** Returns the position of the latest row. */
  findLatest(rpc: JsonRpc, signal: AbortSignal): Promise<number>;
}

/**
 * Reads rows from a `watch` subscription. If the host rejects a row, or imsg ends the subscription because its buffer
 * is full, a new one starts after the stored position.
 */
export class Watch {
  readonly #services: Services;
  #rpc: JsonRpc | undefined;
  #subscription: unknown;
  #waiting: Payload[] = [];
  #draining: Promise<void> | undefined;
  /** True while rows are ignored, because the next subscription delivers them again. */
  #isPaused = true;
  /** The connection on which a subscription is being replaced. */
  #restarting: JsonRpc | undefined;

  constructor(services: Services) {
    this.#services = services;
  }

  /** Subscribes with a new process. Rows of an earlier process are dropped. */
  async open(rpc: JsonRpc, signal: AbortSignal): Promise<void> {
    this.#rpc = rpc;
    await this.#subscribe(rpc, signal);
  }

  /** Handles a notification. The first message may arrive before the response with the number of the subscription. */
  notified(method: string, params: Payload): void {
    if (method === "message") this.#add(params["message"]);
    else if (params["subscription"] === this.#subscription) this.#restart("imsg ended the subscription");
  }

  #add(message: unknown): void {
    if (this.#isPaused) return;
    if (isPayload(message)) this.#waiting.push(message);
    if (this.#waiting.length > limits.waitingRows) this.#restart("too many messages are waiting");
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined;
    });
  }

  async #subscribe(rpc: JsonRpc, signal: AbortSignal): Promise<void> {
    this.#isPaused = true;
    this.#waiting = [];
    await this.#draining;
    const latest = await this.#services.findLatest(rpc, signal);
    const position = await this.#services.reader.begin(latest);
    this.#isPaused = false;
    // 0 means the current end. An empty database is read from the beginning.
    const since = position === 0 ? -1 : position;
    const params = { since_rowid: since, attachments: true, include_reactions: true };
    const result = await rpc.call("watch.subscribe", params, {
      what: "listening for messages",
      write: false,
      signal,
      timeoutMs: limits.requestTimeoutMs,
    });
    this.#subscription = isPayload(result) ? result["subscription"] : undefined;
  }

  async #drain(): Promise<void> {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const row = readImsgRow(next);
      if (row === undefined) {
        this.#services.logger.warn("a message from imsg could not be parsed");
        continue;
      }
      if (await this.#services.reader.receive(row)) continue;
      return this.#restart("a message could not be stored yet");
    }
  }

  #restart(reason: string): void {
    const rpc = this.#rpc;
    this.#isPaused = true;
    this.#waiting = [];
    if (rpc === undefined || this.#restarting === rpc || this.#services.stopped.aborted) return;
    this.#restarting = rpc;
    this.#services.logger.warn(reason);
    void this.#resubscribe(rpc).finally(() => {
      if (this.#restarting === rpc) this.#restarting = undefined;
    });
  }

  async #resubscribe(rpc: JsonRpc): Promise<void> {
    const { clock, logger, stopped } = this.#services;
    const isCurrent = (): boolean => !stopped.aborted && rpc === this.#rpc;
    // Rows of the new subscription can require another restart before its response arrives.
    while (isCurrent() && this.#isPaused) {
      const what = { what: "listening for messages", write: false, signal: stopped };
      await rpc.call("watch.unsubscribe", { subscription: this.#subscription }, what).catch(() => {});
      await clock.delay(limits.rejectedRowMs, stopped).catch(() => {});
      if (!isCurrent()) return;
      try {
        await this.#subscribe(rpc, stopped);
      } catch (error) {
        this.#isPaused = true;
        logger.warn("messages cannot be read yet", { reason: reasonOf(error) });
      }
    }
  }
}
