import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { ChannelError, type ChannelErrorCode } from "../contract/errors.ts";
import { isPayload, type Payload, parsePayload } from "../inbound/payload.ts";
import type { ErrorMeaning } from "../outbound/requests.ts";
import { createChildEnvironment } from "./child-environment.ts";
import {
  type Connection,
  type ConnectionOptions,
  type SupervisedConnection,
  superviseConnection,
} from "./connection.ts";
import { deadline } from "./deadline.ts";

/** An error response of JSON-RPC 2.0. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface JsonRpcCallOptions {
  /** The operation, for error messages, as in `sending a message`. */
  readonly what: string;
  /**
   * True if the call has visible effects. If there is no response, its error is `unknown_outcome`, otherwise
   * `transient`.
   */
  readonly write: boolean;
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
}

/** A process that responds to calls. */
export interface JsonRpc {
  /** @throws ChannelError */
  call(method: string, params: object, options: JsonRpcCallOptions): Promise<unknown>;
}

export interface JsonRpcProcessOptions
  extends Pick<ConnectionOptions, "name" | "clock" | "logger" | "timing" | "reconnected" | "random"> {
  /**
   * The program and its arguments, for instance `["ssh", "mac", "imsg", "rpc"]`. They are not interpreted by a shell.
   */
  readonly command: readonly [string, ...string[]];
  /**
   * Environment variables in addition to those that programs and ssh need. The gateway's own variables are not
   * inherited.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each notification, in order. Must not throw. */
  notified(method: string, params: Payload): void;
  /** Called with each new process before it receives other calls, for instance to subscribe to events. */
  opened?(rpc: JsonRpc, signal: AbortSignal): Promise<void>;
  /** Interprets an error response. Default: `invalid`, with the error's message and code. */
  readonly readError?: (error: JsonRpcError) => ErrorMeaning;
  /** Maximum length of a line in bytes. The process is restarted after a longer one. Default: 10,000,000. */
  readonly maxLineBytes?: number;
}

/** A child process that is restarted when it ends, and calls to it. */
export interface JsonRpcProcess extends SupervisedConnection, JsonRpc {}

const CALL_TIMEOUT_MS = 30_000;
const MAX_LINE_BYTES = 10_000_000;
const MAX_REASON_CHARS = 300;
/** Milliseconds between SIGTERM and SIGKILL. */
const KILL_AFTER_MS = 2_000;
/**
 * Keeps a child process running that speaks JSON-RPC 2.0, one message per line of stdin and stdout. A process that ends
 * is restarted with the backoff of `superviseConnection`. Its pending calls then fail: writes with `unknown_outcome`,
 * other calls with `transient`. While no process runs, calls fail with `transient`.
 *
 * @example
 * ```ts
 * const imsg = superviseJsonRpc({
 *   ...context, // clock and logger
 *   name: "iMessage",
 *   command: ["imsg", "rpc"],
 *   notified: (method, params) => receive(method, params),
 *   opened: async (rpc, signal) =>
 *     void (await rpc.call("watch.subscribe", { since_rowid: 1 }, { what: "subscribing", write: false, signal })),
 * });
 * await imsg.start(signal);
 * await imsg.call("send", { to, text }, { what: "sending a message", write: true, signal });
 * ```
 */
export function superviseJsonRpc(options: JsonRpcProcessOptions): JsonRpcProcess {
  const { name, opened, clock, logger, timing, reconnected, random } = options;
  let current: LineProcess | undefined;

  const connection = superviseConnection({
    name,
    clock,
    logger,
    timing,
    reconnected,
    random,
    async open(signal): Promise<Connection> {
      const { spawn } = await import("node:child_process");
      const [program, ...parameters] = options.command;
      const opening = new LineProcess(
        spawn(program, parameters, { env: createChildEnvironment(options.env), stdio: "pipe" }),
        options,
      );
      const abort = (): void => opening.close();
      signal.addEventListener("abort", abort, { once: true });
      try {
        await opening.spawned;
        await opened?.(opening, signal);
        signal.throwIfAborted();
      } catch (error) {
        opening.close();
        throw error;
      } finally {
        signal.removeEventListener("abort", abort);
      }
      current = opening;
      return { lost: opening.ended, close: () => opening.close() };
    },
  });

  return {
    start: (signal) => connection.start(signal),
    stop() {
      connection.stop();
      current?.close();
    },
    startOver: () => connection.startOver(),
    health: () => connection.health(),
    async call(method, params, how) {
      if (current === undefined || current.hasEnded)
        throw new ChannelError("transient", `${name}: ${how.what}: ${options.command[0]} is not running`);
      return current.call(method, params, how);
    },
  };
}

/** One process. */
class LineProcess implements JsonRpc {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #options: JsonRpcProcessOptions;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #nextId = 1;
  /** Resolves once the program is running. Rejects if it cannot be started. */
  readonly spawned: Promise<void>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  hasEnded = false;
  /** The last line of the process on stderr. It usually explains why the process ended. */
  #lastError = "";

  constructor(child: ChildProcessWithoutNullStreams, options: JsonRpcProcessOptions) {
    this.#child = child;
    this.#options = options;
    const { promise: spawned, resolve, reject } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.spawned = spawned;
    this.ended = ended;
    child.once("spawn", resolve);
    child.on("error", (error) => {
      const code = "code" in error ? String(error.code) : error.name;
      // The event also reports a signal that could not be sent to a process that still runs.
      if (child.pid !== undefined)
        return options.logger.warn(`cannot end ${options.command[0]}`, { reason: code });
      reject(this.#error("transient", `cannot start ${options.command[0]} (${code})`));
      this.#end(end);
    });
    child.once("close", () => this.#end(end));
    // The process has ended before the write. The event `close` follows.
    child.stdin.on("error", () => {});
    readLines(child.stdout, options.maxLineBytes ?? MAX_LINE_BYTES, {
      line: (line) => this.#receive(line),
      tooLong: () => {
        options.logger.warn(`restarting ${options.command[0]}: it wrote a line that is too long`);
        this.close();
      },
    });
    readLines(child.stderr, MAX_REASON_CHARS, {
      line: (line) => {
        if (line.trim() === "") return;
        this.#lastError = line.trim();
        options.logger.debug(`${options.command[0]} reports a problem`, { printed: this.#lastError });
      },
      tooLong: () => {},
    });
  }

  close(): void {
    if (this.hasEnded) return;
    this.#child.kill();
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), KILL_AFTER_MS);
    timer.unref();
    void this.ended.then(() => clearTimeout(timer));
  }

  async call(method: string, params: object, options: JsonRpcCallOptions): Promise<unknown> {
    const { what, write, signal, timeoutMs = CALL_TIMEOUT_MS } = options;
    if (signal.aborted || this.hasEnded) throw this.#error("transient", `${what}: not sent`);
    const id = this.#nextId++;
    const line = this.#serialize(what, { jsonrpc: "2.0", id, method, params });
    const response = Promise.withResolvers<unknown>();
    this.#pending.set(id, response);
    const limit = deadline(timeoutMs, signal);
    const lost = (): void => response.reject(new NoResponse());
    limit.signal.addEventListener("abort", lost, { once: true });
    this.#child.stdin.write(`${line}\n`);
    try {
      return await response.promise;
    } catch (error) {
      if (error instanceof Refusal) throw this.#refusal(what, error.error);
      const cause = this.hasEnded ? `${this.#options.command[0]} ended${this.#reason()}` : "no response";
      throw this.#error(write ? "unknown_outcome" : "transient", `${what}: ${cause}`);
    } finally {
      limit.signal.removeEventListener("abort", lost);
      limit.end();
      this.#pending.delete(id);
    }
  }

  #serialize(what: string, message: object): string {
    try {
      return JSON.stringify(message);
    } catch {
      throw this.#error("invalid", `${what}: the parameters cannot be written as JSON`);
    }
  }

  #receive(line: string): void {
    const message = parsePayload(line);
    if (message === undefined) {
      // ssh prints banners. The line is not logged, because it may contain people's messages.
      if (line.trim() !== "") this.#options.logger.debug(`ignored a line of ${this.#options.command[0]}`);
      return;
    }
    const { id, method, params, error } = message;
    if (typeof method === "string") {
      this.#options.notified(method, isPayload(params) ? params : {});
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (isPayload(error)) pending?.reject(new Refusal(toJsonRpcError(error)));
    else pending?.resolve(message["result"]);
  }

  #end(resolve: () => void): void {
    this.hasEnded = true;
    for (const pending of this.#pending.values()) pending.reject(new NoResponse());
    resolve();
  }

  #reason(): string {
    return this.#lastError === "" ? "" : `: ${this.#lastError}`;
  }

  #refusal(what: string, error: JsonRpcError): ChannelError {
    const {
      code = "invalid",
      reason = error.message,
      platformCode = String(error.code),
      ...facts
    } = this.#options.readError?.(error) ?? {};
    return this.#error(code, `${what}: ${reason.slice(0, MAX_REASON_CHARS)}`, { ...facts, platformCode });
  }

  #error(
    code: ChannelErrorCode,
    text: string,
    facts: Omit<ErrorMeaning, "code" | "reason"> = {},
  ): ChannelError {
    return new ChannelError(code, `${this.#options.name}: ${text}`, facts);
  }
}

/** The call has no response and will never get one. */
class NoResponse extends Error {}

class Refusal extends Error {
  readonly error: JsonRpcError;

  constructor(error: JsonRpcError) {
    super(error.message);
    this.error = error;
  }
}

function toJsonRpcError({ code, message, data }: Payload): JsonRpcError {
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "",
    data,
  };
}

/** Reads lines of at most `maxBytes` bytes. Longer ones are skipped and reported. */
function readLines(
  stream: NodeJS.ReadableStream,
  maxBytes: number,
  report: { readonly line: (line: string) => void; readonly tooLong: () => void },
): void {
  let chunks: Buffer[] = [];
  let length = 0;
  let isSkipping = false;

  function add(piece: Buffer): void {
    if (isSkipping) return;
    length += piece.length;
    if (length <= maxBytes) return void chunks.push(piece);
    isSkipping = true;
    chunks = [];
    report.tooLong();
  }

  stream.on("data", (data: Buffer) => {
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      add(data.subarray(start, end));
      if (!isSkipping) report.line(Buffer.concat(chunks).toString("utf8"));
      chunks = [];
      length = 0;
      isSkipping = false;
      start = end + 1;
    }
    if (start < data.length) add(data.subarray(start));
  });
}
