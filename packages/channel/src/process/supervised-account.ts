import type { ChannelContext, Health, Identity } from "../contract/definition.ts";
import { ChannelError, reasonOf } from "../contract/errors.ts";
import type { PartReceipt, SendOptions } from "../contract/messages.ts";
import { deadline } from "../host/deadline.ts";
import { type AccountProcess, type Launch, startProcess } from "./account-process.ts";
import { ByteStreams, readFrom } from "./byte-streams.ts";
import { type Handler, handling, type Line, LineCut } from "./line.ts";
import { createEntryLog } from "./log-said.ts";
import { accountMethods, hostMethods, type Method } from "./methods.ts";
import { json } from "./schemas.ts";

/** What a process may take to load the channel, and its account to start in one that takes another's place. */
const LAUNCH_MS = 120_000;
/** Before the first restart; doubled for each that follows soon, up to the longest. */
const FIRST_RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 60_000;
/** A process that lived so long was no failure of the last restart. */
const HEALTHY_MS = 60_000;
/** A process that tells nothing for so long hangs: it says how its account is every five seconds. */
const SILENT_MS = 30_000;
/** What a process gets beyond the time for what is under way, until it is ended. */
const STOP_MS = 2_000;

/** What the host does while a message is sent, and what it has heard of it. */
interface Sending extends Pick<SendOptions, "onPart" | "openMedia"> {
  readonly sent: PartReceipt[];
}

/**
 * One account in a process of its own. A process that ends is replaced by another. Until then calls fail as they would
 * while a platform is away; a call in progress has an unknown outcome.
 */
export class SupervisedAccount {
  readonly #module: string;
  readonly #channel: string;
  readonly #context: ChannelContext;
  readonly #launchWith: Launch;
  readonly #log: ReturnType<typeof createEntryLog>;
  readonly #sendings = new Map<number, Sending>();
  #sendingCount = 0;
  /** The process that is called. */
  #process: AccountProcess | undefined;
  #startedAt = 0;
  #failures = 0;
  #isStarted = false;
  #isStopped = false;
  #isHeard = false;
  /** What the process says, also one that is being brought up. */
  #health: Health = { state: "starting" };
  /** How the account is while there is no process to call. */
  #outage: Health | undefined;
  self: Identity | undefined;

  /** @param channel the id of the channel that the module exports */
  constructor(module: string, channel: string, context: ChannelContext, launch: Launch) {
    this.#module = module;
    this.#channel = channel;
    this.#context = context;
    this.#launchWith = launch;
    this.#log = createEntryLog(context);
  }

  /** What tells one process from the next: what was opened in another one is gone. */
  get current(): object | undefined {
    return this.#process;
  }

  get health(): Health {
    const isLost = this.#process?.line.isGone === true && !this.#isStopped;
    return isLost ? { state: "down", reason: "its process ended" } : (this.#outage ?? this.#health);
  }

  /** Brings the first process up. Gives the names of the channel's methods. */
  async open(): Promise<readonly string[]> {
    const { launched, methods } = await this.#launch();
    this.#take(launched);
    this.#context.signal.addEventListener("abort", () => void this.stop({ drainMs: 0 }), { once: true });
    return methods;
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isStopped) throw new ChannelError("transient", "The account was stopped");
    await this.call(accountMethods.start, {}, signal);
    this.#isStarted = true;
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    this.#isStopped = true;
    const stopping = this.#process;
    if (stopping !== undefined) {
      const { line } = stopping;
      await within(drainMs + STOP_MS, line, line.call(accountMethods.stop, { drainMs })).catch(() => {});
      await stopping.end();
    }
    this.#outage = undefined;
    this.#health = { state: "stopped" };
  }

  /** @throws ChannelError `transient` while there is no process, `unknown_outcome` where it ends before it answers */
  async call<Params, Result>(
    method: Method<Params, Result>,
    params: Params,
    signal?: AbortSignal,
  ): Promise<Result> {
    const line = this.#process?.line;
    if (line === undefined || line.isGone) {
      throw new ChannelError("transient", "The process of the account is being started again", {
        scope: "account",
      });
    }
    try {
      return await line.call(method, params, signal);
    } catch (error) {
      if (!(error instanceof LineCut)) throw error;
      const message = "The process of the account ended before it had answered";
      throw new ChannelError("unknown_outcome", message, { cause: error });
    }
  }

  /** Calls what sends a message: the process asks for its attachments, and tells of each part. */
  async sending<Result>(
    options: Pick<SendOptions, "onPart" | "openMedia">,
    call: (callbacks: { readonly id: number; readonly opensMedia: boolean }) => Promise<Result>,
  ): Promise<Result> {
    const id = this.#sendingCount++;
    const sending: Sending = { ...options, sent: [] };
    this.#sendings.set(id, sending);
    try {
      return await call({ id, opensMedia: options.openMedia !== undefined });
    } catch (error) {
      throw withReceipt(error, sending.sent);
    } finally {
      this.#sendings.delete(id);
    }
  }

  /** Bytes that the process has offered. */
  read(stream: number): ReadableStream<Uint8Array> {
    if (this.#process === undefined)
      throw new ChannelError("transient", "The process of the account is gone");
    return readFrom(this.#process.line, stream);
  }

  async #launch() {
    const bytes = new ByteStreams();
    const launched = startProcess(
      this.#launchWith,
      [...this.#handlers(bytes), ...bytes.handlers],
      this.#context,
    );
    void launched.ended.then(() => bytes.end());
    const { account: name, commands = [], raw = false } = this.#context;
    const config = json.safeParse(this.#context.config);
    try {
      if (!config.success) throw new ChannelError("unsupported", "The settings hold what is no JSON");
      const exported = { module: this.#module, channel: this.#channel };
      const given = { ...exported, account: name, config: config.data, commands: [...commands], raw };
      const { methods } = await within(
        LAUNCH_MS,
        launched.line,
        launched.line.call(accountMethods.create, given),
        this.#context.signal,
      );
      return { launched, methods };
    } catch (error) {
      await launched.end();
      throw error instanceof LineCut
        ? new ChannelError("transient", `The process did not come up: ${await launched.ended}`, {
            cause: error,
          })
        : error;
    }
  }

  /** Calls go to this process from now on, until it ends. */
  #take(launched: AccountProcess): void {
    this.#process = launched;
    this.#outage = undefined;
    this.#context.logger.info("the account runs in its own process", { pid: launched.pid ?? null });
    this.#startedAt = this.#context.clock.now();
    void this.#watch(launched);
    void launched.ended.then((why) => {
      if (this.#process !== launched) return;
      this.#process = undefined;
      if (this.#isStopped) return;
      if (this.#isStarted) void this.#restart(why);
      else this.#outage = { state: "down", reason: why };
    });
  }

  /** Ends a process that hangs, so that another one follows. */
  async #watch(launched: AccountProcess): Promise<void> {
    const over = new AbortController();
    void launched.ended.then(() => over.abort());
    try {
      do {
        this.#isHeard = false;
        await this.#context.clock.delay(SILENT_MS, over.signal);
      } while (this.#isHeard);
      launched.line.close("it did not answer any more");
    } catch {
      // It has ended.
    }
  }

  async #restart(why: string): Promise<void> {
    const { clock, logger, signal } = this.#context;
    if (clock.now() - this.#startedAt >= HEALTHY_MS) this.#failures = 0;
    const waitMs = Math.min(LONGEST_RESTART_MS, FIRST_RESTART_MS * 2 ** this.#failures++);
    this.#outage = { state: "down", reason: `its process: ${why}`, retryAt: clock.now() + waitMs };
    logger.error("the process of a channel account is being restarted", { err: why, inMs: waitMs });
    try {
      await clock.delay(waitMs, signal);
    } catch {
      return;
    }
    if (this.#isStopped) return;
    try {
      const { launched } = await this.#launch();
      await within(LAUNCH_MS, launched.line, launched.line.call(accountMethods.start, {}), signal).catch(
        async (error: unknown) => {
          await launched.end();
          throw error;
        },
      );
      if (this.#isStopped) return await launched.end();
      this.#take(launched);
    } catch (error) {
      if (!this.#isStopped) void this.#restart(reasonOf(error));
    }
  }

  #handlers(bytes: ByteStreams): readonly Handler[] {
    const { emit, cache, state } = this.#context;
    return [
      handling(hostMethods.emit, ({ event }) => emit(event)),
      handling(hostMethods.log, (entry) => this.#log(entry)),
      handling(hostMethods.status, ({ health, self }) => {
        if (!this.#isStopped || health.state === "stopped") this.#health = health;
        this.self = self;
        this.#isHeard = true;
        return undefined;
      }),
      handling(hostMethods.cacheGet, async ({ key }) => kept(await cache.get(key))),
      handling(hostMethods.cacheSet, ({ key, value, ttlMs }) =>
        cache.set(key, value, ttlMs).then(() => undefined),
      ),
      handling(hostMethods.stateGet, async ({ key }) => kept(await state.get(key))),
      handling(hostMethods.stateSet, ({ key, value }) => state.set(key, value).then(() => undefined)),
      handling(hostMethods.stateDelete, ({ key }) => state.delete(key).then(() => undefined)),
      handling(hostMethods.part, async ({ sending: id, part }) => {
        const sending = this.#sendings.get(id);
        sending?.sent.push(part);
        await sending?.onPart?.(part);
        return undefined;
      }),
      handling(hostMethods.openMedia, async ({ sending, part }) => {
        const { openMedia } = this.#sendings.get(sending) ?? {};
        if (openMedia === undefined) throw new ChannelError("not_found", "There are no bytes for it");
        return { stream: bytes.offer(await openMedia(part)) };
      }),
    ];
  }
}

function kept<Value>(value: Value | undefined): { value?: Value } {
  return value === undefined ? {} : { value };
}

/** Cuts the line to a process that takes too long, which ends what it was asked for. */
async function within<Result>(
  ms: number,
  line: Line,
  work: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const limit = deadline(ms, signal);
  limit.signal.addEventListener("abort", () => line.close(reasonOf(limit.signal.reason)), { once: true });
  try {
    return await work;
  } finally {
    limit.end();
  }
}

/** The parts that are out are known here, where the process could not say it any more. */
function withReceipt(error: unknown, sent: readonly PartReceipt[]): unknown {
  const isCut = error instanceof ChannelError && error.cause instanceof LineCut;
  if (!isCut || sent.length === 0) return error;
  return new ChannelError(error.code, error.message, { receipt: { parts: sent }, cause: error.cause });
}
