import { isDeepStrictEqual } from "node:util";
import {
  type ChannelContext,
  ChannelError,
  deadline,
  type Health,
  type Identity,
  type Outbound,
  reasonOf,
  type SendOptions,
} from "@signalbox/channel";
import { z } from "zod";
import { AccountProcess, type Launch, ProcessEnded } from "./account-process.ts";
import { ByteStreams } from "./byte-streams.ts";
import type { AccountFunctions, SendParameters } from "./functions.ts";
import { hostFunctions, type Sending } from "./host-functions.ts";
import { createProcessLog, type ProcessLog } from "./process-log.ts";
import type { Status } from "./schemas.ts";

/** Time limit in milliseconds for loading the channel, and for starting the account after a restart. */
const LAUNCH_MS = 120_000;
/** Delay before the first restart in milliseconds. It doubles with each failure, up to the maximum. */
const RESTART_MS = 1_000;
const MAX_RESTART_MS = 60_000;
/** Milliseconds that a process must run before the restart delay is reset. */
const HEALTHY_MS = 60_000;
/** Milliseconds of silence after which a process is killed. It sends a heartbeat every five seconds. */
const SILENT_MS = 30_000;
/** Additional time for stopping after the operations in progress, in milliseconds. */
const STOP_MS = 2_000;

const created = z.object({ methods: z.array(z.string()) });

/**
 * Runs one account in a process and restarts the process when it ends. Calls fail with `transient` while there is no
 * process, and with `unknown_outcome` if the process ends before it responds.
 */
export class SupervisedAccount {
  readonly #module: string;
  readonly #channel: string;
  readonly #context: ChannelContext;
  readonly #launch: Launch;
  readonly #log: ProcessLog;
  readonly #sendings = new Map<number, Sending>();
  #sendingCount = 0;
  #process: AccountProcess | undefined;
  #processSince = 0;
  #failures = 0;
  #isStarted = false;
  #isStopped = false;
  #hasHeartbeat = false;
  /** The latest report from a process, which may not be in use yet. */
  #status: Status = { health: { state: "starting" } };
  /** The health while there is no process in use. */
  #outage: Health | undefined;

  /**
   * @param module the URL of the file that exports the definition
   * @param channel the id of the channel that the module exports
   */
  constructor(module: string, channel: string, context: ChannelContext, launch: Launch) {
    this.#module = module;
    this.#channel = channel;
    this.#context = context;
    this.#launch = launch;
    this.#log = createProcessLog(context);
  }

  /** The process in use. Drafts that were opened in an earlier process no longer exist. */
  get process(): AccountProcess | undefined {
    return this.#process;
  }

  get health(): Health {
    const isLost = this.#process?.hasEnded === true && !this.#isStopped;
    return isLost ? { state: "down", reason: "its process ended" } : (this.#outage ?? this.#status.health);
  }

  get self(): Identity | undefined {
    return this.#status.self;
  }

  /** Starts the first process and creates the channel in it. Returns the names of the channel's methods. */
  async open(): Promise<readonly string[]> {
    const { process, methods } = await this.#create();
    this.#use(process);
    this.#context.signal.addEventListener("abort", () => void this.stop({ drainMs: 0 }), { once: true });
    return methods;
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#isStopped) throw new ChannelError("transient", "The account was stopped");
    await this.call("start", undefined, z.unknown(), signal);
    this.#isStarted = true;
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    this.#isStopped = true;
    const process = this.#process;
    if (process !== undefined) {
      const stopping = process.call("stop", { drainMs }, z.unknown());
      await killAfter(drainMs + STOP_MS, process, stopping).catch(() => {});
      process.kill("it was stopped");
      await process.ended;
    }
    this.#outage = undefined;
    this.#status = { ...this.#status, health: { state: "stopped" } };
  }

  /**
   * Calls a function of the process and validates its result.
   *
   * @throws ChannelError `transient` while there is no process, `unknown_outcome` if it ends before it responds
   */
  async call<Name extends keyof AccountFunctions & string, Result>(
    name: Name,
    parameter: Parameters<AccountFunctions[Name]>[0],
    schema: z.ZodType<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      return await this.#running().call(name, parameter, schema, signal);
    } catch (error) {
      if (!(error instanceof ProcessEnded)) throw error;
      const message = "The account's process ended before it answered";
      throw new ChannelError("unknown_outcome", message, { cause: error });
    }
  }

  /**
   * Sends a message. While `send` is running, the process can open the message's media and report sent parts.
   *
   * @throws ChannelError that `send` throws, with a receipt if the process ended after the first part
   */
  async sending<Result>(
    message: Outbound,
    { onPart, openMedia }: Pick<SendOptions, "onPart" | "openMedia">,
    send: (parameters: Pick<SendParameters, "sending" | "message" | "hasMedia">) => Promise<Result>,
  ): Promise<Result> {
    const id = this.#sendingCount++;
    const sending: Sending = { message, onPart, openMedia, sent: [] };
    this.#sendings.set(id, sending);
    try {
      return await send({ sending: id, message, hasMedia: openMedia !== undefined });
    } catch (error) {
      const isInterrupted = error instanceof ChannelError && error.cause instanceof ProcessEnded;
      if (!isInterrupted || sending.sent.length === 0) throw error;
      const { code, message: reason, cause } = error;
      throw new ChannelError(code, reason, { receipt: { parts: sending.sent }, cause });
    } finally {
      this.#sendings.delete(id);
    }
  }

  /** Returns a stream of the process. */
  read(stream: number): ReadableStream<Uint8Array> {
    return this.#running().read(stream);
  }

  #running(): AccountProcess {
    if (this.#process !== undefined && !this.#process.hasEnded) return this.#process;
    throw new ChannelError("transient", "The account's process is restarting", { scope: "account" });
  }

  async #create() {
    const { account, commands = [], raw = false, isShared = false, config, signal } = this.#context;
    const asksToRequest = this.#context.mayRequest !== undefined;
    if (!isCloneable(config))
      throw new ChannelError("unsupported", "The settings contain values that no other process can receive");
    const streams = new ByteStreams();
    const launched = this.#launch();
    for (const stream of launched.output) this.#log.capture(stream);
    const functions = hostFunctions({
      context: this.#context,
      log: this.#log,
      streams,
      sendings: this.#sendings,
      onStatus: (status) => this.#report(status),
    });
    const process = new AccountProcess(launched, functions);
    void process.ended.then(() => streams.cancelAll());
    const given = { account, commands, raw, isShared, config, asksToRequest };
    const options = { module: this.#module, channel: this.#channel, ...given };
    try {
      const creating = process.call("create", options, created);
      const { methods } = await killAfter(LAUNCH_MS, process, creating, signal);
      return { process, methods };
    } catch (error) {
      process.kill("its account could not be created");
      if (!(error instanceof ProcessEnded)) throw error;
      throw new ChannelError("transient", `The account's process did not start: ${await process.ended}`, {
        cause: error,
      });
    }
  }

  /** Directs all calls to this process until it ends. */
  #use(process: AccountProcess): void {
    this.#process = process;
    this.#outage = undefined;
    this.#processSince = this.#context.clock.now();
    this.#context.logger.info("the account runs in its own process", { pid: process.pid ?? null });
    void this.#killIfSilent(process);
    void process.ended.then((reason) => {
      if (this.#process !== process) return;
      this.#process = undefined;
      if (this.#isStopped) return;
      if (this.#isStarted) void this.#restart(reason);
      else this.#outage = { state: "down", reason };
    });
  }

  async #killIfSilent(process: AccountProcess): Promise<void> {
    const ended = new AbortController();
    void process.ended.then(() => ended.abort());
    try {
      do {
        this.#hasHeartbeat = false;
        await this.#context.clock.delay(SILENT_MS, ended.signal);
      } while (this.#hasHeartbeat);
      process.kill("it stopped responding");
    } catch {
      // The process has ended.
    }
  }

  async #restart(reason: string): Promise<void> {
    const { clock, logger, signal } = this.#context;
    if (clock.now() - this.#processSince >= HEALTHY_MS) this.#failures = 0;
    const waitMs = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#failures++);
    this.#outage = { state: "down", reason: `its process: ${reason}`, retryAt: clock.now() + waitMs };
    logger.error("restarting the process of a channel account", { err: reason, inMs: waitMs });
    try {
      await clock.delay(waitMs, signal);
    } catch {
      return;
    }
    if (this.#isStopped) return;
    try {
      const { process } = await this.#create();
      try {
        await killAfter(LAUNCH_MS, process, process.call("start", undefined, z.unknown()), signal);
      } catch (error) {
        process.kill("its account did not start");
        throw error;
      }
      if (this.#isStopped) return process.kill("the account was stopped");
      this.#use(process);
    } catch (error) {
      if (!this.#isStopped) void this.#restart(reasonOf(error));
    }
  }

  #report(status: Status): void {
    this.#hasHeartbeat = true;
    // A process that is being stopped may still report its previous state.
    const health = this.#isStopped && status.health.state !== "stopped" ? this.#status.health : status.health;
    this.#status = { ...status, health };
  }
}

/** Returns true if structured cloning preserves the value. It does not preserve functions and class instances. */
function isCloneable(value: unknown): boolean {
  try {
    return isDeepStrictEqual(structuredClone(value), value);
  } catch {
    return false;
  }
}

/** Kills a process if its task takes longer than `ms` milliseconds or the signal fires. */
async function killAfter<Result>(
  ms: number,
  process: AccountProcess,
  work: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const limit = deadline(ms, signal);
  limit.signal.addEventListener("abort", () => process.kill(reasonOf(limit.signal.reason)), { once: true });
  try {
    return await work;
  } finally {
    limit.end();
  }
}
