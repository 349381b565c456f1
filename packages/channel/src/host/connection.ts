import type { ChannelLogger, Clock, Health } from "../contract/definition.ts";
import { ChannelError, type ChannelErrorCode, isChannelError, reasonOf } from "../contract/errors.ts";
import { untilAborted } from "./until-aborted.ts";

/** An open connection. */
export interface Connection {
  /** Resolves once it is lost. */
  readonly lost: Promise<unknown>;
  /** Asks the other side for a sign of life; rejects, or is given up, if none comes. */
  probe?(signal: AbortSignal): Promise<unknown>;
  /** Ends it; may be called twice. */
  close(): void;
}

export interface ConnectionTiming {
  /** Longest that one attempt may take. Default 15 s. */
  readonly attemptMs?: number;
  /**
   * Between attempts: the first pause, which doubles until a connection has stood for longer than an attempt may take,
   * and the longest. Default half a second, and a minute.
   */
  readonly pauseMs?: number;
  readonly mostPauseMs?: number;
  /** After the platform has refused the credentials, or what they are to be used for. Default five minutes. */
  readonly refusedPauseMs?: number;
  /** How often a standing connection is probed, and how long an answer may take. Default: never. */
  readonly probe?: { readonly everyMs: number; readonly withinMs: number };
}

const usualTiming = { attemptMs: 15_000, pauseMs: 500, mostPauseMs: 60_000, refusedPauseMs: 300_000 };

export interface ConnectionOptions {
  /** For people, for instance `Feishu`. */
  readonly name: string;
  /** One attempt; resolves when the connection stands. When the signal fires it has to give up and close. */
  open(signal: AbortSignal): Promise<Connection>;
  /** The connection is open again. Events since `lostAt`, milliseconds since the epoch, may have been missed. */
  reconnected?(lostAt: number): Promise<void>;
  readonly timing?: ConnectionTiming;
  readonly clock: Clock;
  readonly logger: ChannelLogger;
  /** From 0 to 1, spreads attempts. Default `Math.random`. */
  readonly random?: () => number;
}

/** A connection that is opened again whenever it is lost. */
export interface SupervisedConnection {
  /**
   * Resolves when it is open.
   * @throws ChannelError if the first attempt fails
   */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
  /** The connection was sound, whatever it is closed for: the next attempt comes after the first pause. */
  startOver(): void;
  health(): Health;
}

/**
 * Keeps a connection open: every attempt has a deadline, pauses grow, and an open connection that does not answer
 * counts as lost. `health` says `ready` only while a connection is open.
 */
export function superviseConnection(options: ConnectionOptions): SupervisedConnection {
  return new RetriedConnection(options);
}

class RetriedConnection implements SupervisedConnection {
  readonly #options: ConnectionOptions;
  readonly #timing: ConnectionTiming & typeof usualTiming;
  readonly #random: () => number;
  readonly #life = new AbortController();
  #health: Health = { state: "starting" };
  /** Attempts since a connection stood for a while. */
  #tries = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#timing = { ...usualTiming, ...options.timing };
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
      // One that stands later is not wanted any more.
      opening?.then((late) => late.close()).catch(() => {});
      throw isChannelError(error) ? error : unreachable(name, reasonOf(error), error);
    }
  }

  /** What `work` gives, or an error once `parent` fires or the time is up. */
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
      return await untilAborted(work(limit), limit);
    } finally {
      finished.abort();
    }
  }

  /** Resolves once the connection is lost, or does not answer a probe. */
  async #untilLost(connection: Connection): Promise<void> {
    const { clock, logger } = this.#options;
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
      if (answered || ended.aborted) continue;
      logger.warn("the connection stopped responding");
      return;
    }
    await untilAborted(connection.lost, this.#life.signal).catch(() => {});
  }

  async #keep(first: Connection): Promise<void> {
    const { clock, logger } = this.#options;
    let connection: Connection | undefined = first;
    while (connection !== undefined) {
      const openedAt = clock.now();
      await this.#untilLost(connection);
      connection.close();
      if (this.#life.signal.aborted) return;
      const lostAt = clock.now();
      // One that breaks as soon as it stands is no better than none.
      if (lostAt - openedAt >= this.#timing.attemptMs) this.#tries = 0;
      connection = await this.#reopen();
      if (connection === undefined) return;
      this.#health = { state: "ready" };
      logger.info("connected again", { afterMs: clock.now() - lostAt });
      // Reading may take long; whether the connection still stands is watched meanwhile.
      this.#options.reconnected?.(lostAt).catch((error: unknown) => {
        logger.warn("what was missed could not be read", { reason: reasonOf(error) });
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
        logger.warn("no connection", { reason, waitMs: pause });
      }
    }
    return undefined;
  }

  #pauseAfter(error: unknown): number {
    if (!isChannelError(error)) return this.#nextPause();
    if (refusals.includes(error.code)) return this.#timing.refusedPauseMs;
    return Math.max(this.#nextPause(), error.retryAfterMs ?? 0);
  }

  #nextPause(): number {
    const { pauseMs, mostPauseMs } = this.#timing;
    return this.#spread(Math.min(pauseMs * 2 ** this.#tries, mostPauseMs));
  }

  #spread(ms: number): number {
    return ms * (0.5 + this.#random() / 2);
  }
}

/** A person has to fix something first. */
const refusals: readonly ChannelErrorCode[] = ["auth", "permission"];

function unreachable(name: string, reason: string, cause?: unknown): ChannelError {
  return new ChannelError("transient", `${name}: ${reason}`, { scope: "account", cause });
}
