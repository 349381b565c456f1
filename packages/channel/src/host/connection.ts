import type { ChannelLogger, Clock, Health } from "../contract/definition.ts";
import { ChannelError, isChannelError, reasonOf } from "../contract/errors.ts";
import { rejectOnAbort } from "./reject-on-abort.ts";

/** An open connection. */
export interface Connection {
  /** Settles when the connection is lost. */
  readonly lost: Promise<unknown>;
  /** Checks that the peer responds. Rejects if it does not. */
  probe?(signal: AbortSignal): Promise<unknown>;
  /** Closes the connection. May be called repeatedly. */
  close(): void;
}

export interface ConnectionTiming {
  /** Time limit for an attempt in milliseconds. Default: 15 s. */
  readonly attemptMs?: number;
  /**
   * First delay between attempts in milliseconds. It doubles with each attempt and is reset after a connection has
   * lasted longer than `attemptMs`. Default: 1 s.
   */
  readonly pauseMs?: number;
  /**
   * Maximum delay between attempts in milliseconds, even after the platform rejected the credentials. A longer
   * `retryAfterMs` of an error is respected. Default: 30 s.
   */
  readonly maxPauseMs?: number;
  /** The interval of probes and the time limit for each. Default: no probes. */
  readonly probe?: { readonly everyMs: number; readonly withinMs: number };
}

const DEFAULT_TIMING = { attemptMs: 15_000, pauseMs: 1_000, maxPauseMs: 30_000 };

export interface ConnectionOptions {
  /** The platform's display name, for instance `Feishu`. */
  readonly name: string;
  /** Opens a connection. When the signal fires, it must give up and close the connection. */
  open(signal: AbortSignal): Promise<Connection>;
  /**
   * Called after a reconnection. Events since `lostAt` may have been missed. `lostAt` is the time at which the
   * connection was last known to work, in milliseconds since the epoch.
   */
  reconnected?(lostAt: number): Promise<void>;
  readonly timing?: ConnectionTiming;
  readonly clock: Clock;
  readonly logger: ChannelLogger;
  /** Returns random numbers from 0 to 1 for the jitter of delays. Default: `Math.random`. */
  readonly random?: () => number;
}

/** A connection that is reopened when it is lost. */
export interface SupervisedConnection {
  /**
   * Opens the connection.
   *
   * @throws ChannelError if the first attempt fails
   */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
  /** Resets the delay. Call it if the host closes the connection for its own reasons. */
  startOver(): void;
  health(): Health;
}

/**
 * Keeps a connection open, with a time limit per attempt, exponential backoff with jitter, and probes. `health` is
 * `ready` only while a connection is open.
 */
export function superviseConnection(options: ConnectionOptions): SupervisedConnection {
  return new ReconnectingConnection(options);
}

class ReconnectingConnection implements SupervisedConnection {
  readonly #options: ConnectionOptions;
  readonly #timing: ConnectionTiming & typeof DEFAULT_TIMING;
  readonly #random: () => number;
  readonly #life = new AbortController();
  #health: Health = { state: "starting" };
  /** Number of attempts since the last stable connection. */
  #tries = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#timing = { ...DEFAULT_TIMING, ...options.timing };
    this.#random = options.random ?? Math.random;
  }

  async start(signal: AbortSignal): Promise<void> {
    const connection = await this.#attempt(signal);
    if (this.#life.signal.aborted) return connection.close();
    this.#health = { state: "ready" };
    void this.#keep(connection);
  }

  stop(): void {
    this.#life.abort();
    this.#health = { state: "stopped" };
  }

  startOver(): void {
    this.#tries = 0;
  }

  health(): Health {
    return this.#health;
  }

  async #attempt(signal: AbortSignal): Promise<Connection> {
    const { name } = this.#options;
    const { attemptMs } = this.#timing;
    let opening: Promise<Connection> | undefined;
    const tooLong = unreachable(name, `no connection within ${attemptMs} ms`);
    try {
      return await this.#within(attemptMs, tooLong, AbortSignal.any([signal, this.#life.signal]), (limit) => {
        opening = this.#options.open(limit);
        return opening;
      });
    } catch (error) {
      // The attempt may still succeed later.
      opening?.then((late) => late.close()).catch(() => {});
      throw isChannelError(error) ? error : unreachable(name, reasonOf(error), error);
    }
  }

  /** Returns the result of `work`. Rejects when `parent` fires or after `ms`. */
  async #within<T>(
    ms: number,
    tooLong: Error,
    parent: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const finished = new AbortController();
    const late = new AbortController();
    const limit = AbortSignal.any([parent, late.signal]);
    this.#options.clock.delay(ms, finished.signal).then(
      () => late.abort(tooLong),
      () => {},
    );
    try {
      limit.throwIfAborted();
      return await rejectOnAbort(work(limit), limit);
    } finally {
      finished.abort();
    }
  }

  /**
   * Resolves when the connection is lost or does not respond to a probe.
   *
   * @returns the time at which the connection was opened or last responded
   */
  async #untilLost(connection: Connection): Promise<number> {
    const { clock, logger } = this.#options;
    let aliveAt = clock.now();
    const lost = new AbortController();
    const ended = AbortSignal.any([lost.signal, this.#life.signal]);
    void connection.lost.then(
      () => lost.abort(),
      () => lost.abort(),
    );
    const { probe } = this.#timing;
    while (!ended.aborted && probe !== undefined && connection.probe !== undefined) {
      await clock.delay(probe.everyMs, ended).catch(() => {});
      if (ended.aborted) break;
      const ask = connection.probe.bind(connection);
      const answered = await this.#within(probe.withinMs, new Error("no answer"), ended, ask).then(
        () => true,
        () => false,
      );
      if (answered) aliveAt = clock.now();
      if (answered || ended.aborted) continue;
      logger.warn("the connection stopped responding");
      return aliveAt;
    }
    await rejectOnAbort(connection.lost, this.#life.signal).catch(() => {});
    return aliveAt;
  }

  async #keep(first: Connection): Promise<void> {
    const { clock, logger } = this.#options;
    let connection: Connection | undefined = first;
    while (connection !== undefined) {
      const openedAt = clock.now();
      const aliveAt = await this.#untilLost(connection);
      connection.close();
      if (this.#life.signal.aborted) return;
      const lostAt = clock.now();
      // A connection that breaks immediately must not reset the backoff.
      if (lostAt - openedAt >= this.#timing.attemptMs) this.#tries = 0;
      connection = await this.#reopen();
      if (connection === undefined) return;
      this.#health = { state: "ready" };
      logger.info("reconnected", { afterMs: clock.now() - lostAt });
      // Not awaited, because reading missed events may take long and the connection must be watched in the meantime.
      this.#options.reconnected?.(aliveAt).catch((error: unknown) => {
        logger.warn("missed events could not be read", { reason: reasonOf(error) });
      });
    }
  }

  async #reopen(): Promise<Connection | undefined> {
    const { name, clock, logger } = this.#options;
    let pause = this.#nextPause();
    let reason = `no connection to ${name}`;
    while (!this.#life.signal.aborted) {
      this.#health = { state: "down", reason, retryAt: clock.now() + pause };
      await clock.delay(pause, this.#life.signal).catch(() => {});
      if (this.#life.signal.aborted) break;
      this.#tries += 1;
      try {
        return await this.#attempt(this.#life.signal);
      } catch (error) {
        reason = reasonOf(error);
        pause = this.#pauseAfter(error);
        logger.warn("connection attempt failed", { reason, waitMs: pause });
      }
    }
    return undefined;
  }

  #pauseAfter(error: unknown): number {
    const retryAfterMs = isChannelError(error) ? error.retryAfterMs : undefined;
    return Math.max(this.#nextPause(), retryAfterMs ?? 0);
  }

  #nextPause(): number {
    const { pauseMs, maxPauseMs } = this.#timing;
    return this.#spread(Math.min(pauseMs * 2 ** this.#tries, maxPauseMs));
  }

  #spread(ms: number): number {
    return ms * (0.5 + this.#random() / 2);
  }
}

function unreachable(name: string, reason: string, cause?: unknown): ChannelError {
  return new ChannelError("transient", `${name}: ${reason}`, { scope: "account", cause });
}
