import { fork } from "node:child_process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { readRemote } from "./byte-streams.ts";
import type { AccountFunctions } from "./functions.ts";
import { connect, type Port, type Rpc } from "./rpc.ts";

/**
 * Environment variables that the child inherits, because Node.js needs them to run and to reach the network. They
 * contain no secrets of the gateway, except possibly a password in a proxy URL.
 */
const INHERITED_ENV = [
  "PATH",
  "LANG",
  "TZ",
  "TMPDIR",
  "SystemRoot",
  "NODE_EXTRA_CA_CERTS",
  "NODE_USE_ENV_PROXY",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "NO_PROXY",
  "http_proxy",
  "https_proxy",
  "no_proxy",
];

/** The worker is next to this file, both in the sources and in the build. */
const WORKER = import.meta.url.endsWith(".ts") ? "./account-worker.ts" : "./account-worker.js";

/** A started process. */
export interface Launched {
  readonly pid?: number | undefined;
  readonly port: Port;
  /** The process's stdout and stderr. */
  readonly output: readonly Readable[];
  /** Resolves with the reason once the connection to the process has ended. */
  readonly ended: Promise<string>;
  kill(): void;
}

/** Starts a process for an account. Tests replace it. */
export type Launch = () => Launched;

/**
 * Starts `account-worker` as a child process. Settings and secrets are sent over IPC, because other users can read the
 * arguments and environments of processes.
 */
export function forkWorker(): Launched {
  const env = Object.fromEntries(
    INHERITED_ENV.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
  const child = fork(fileURLToPath(new URL(WORKER, import.meta.url)), {
    env,
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
    child.once("close", (code, signal) =>
      resolve(signal === null ? `it exited with code ${code}` : `it was killed by ${signal}`),
    );
  });
  const kill = (): void => void child.kill("SIGKILL");
  // A channel can disconnect without exiting. Such a process is no longer reachable.
  child.once("disconnect", kill);
  return {
    pid: child.pid,
    port: {
      // The callback receives the error of a closed channel, which `ended` also reports.
      post: (message) => void child.send(message as object, () => {}),
      onMessage: (listener) => void child.on("message", listener),
    },
    output: [child.stdout, child.stderr].filter((stream) => stream !== null),
    ended,
    kill,
  };
}

/** The account's process ended before it responded to a call. */
export class ProcessEnded extends Error {
  override readonly name = "ProcessEnded";
}

const chunk = z.instanceof(Uint8Array).optional();

/** An account's process and the connection to it. */
export class AccountProcess {
  readonly pid: number | undefined;
  /** Resolves with the reason once the process has ended. */
  readonly ended: Promise<string>;
  readonly #launched: Launched;
  readonly #rpc: Rpc<AccountFunctions>;
  #killedBecause: string | undefined;
  #hasEnded = false;

  constructor(launched: Launched, functions: Parameters<typeof connect>[1]) {
    this.#launched = launched;
    this.pid = launched.pid;
    this.#rpc = connect(launched.port, functions, (reason) => this.kill(reason));
    this.ended = launched.ended.then((reason) => {
      this.#end(this.#killedBecause ?? reason);
      return this.#killedBecause ?? reason;
    });
  }

  /** True if calls fail because the process has ended or was killed. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Calls a function of the process. A result that does not match the schema kills the process.
   *
   * @throws ProcessEnded if the process ends before it responds
   */
  async call<Name extends keyof AccountFunctions & string, Result>(
    name: Name,
    parameter: Parameters<AccountFunctions[Name]>[0],
    schema: z.ZodType<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const result = await this.#rpc.call(name, parameter as never, signal);
    return this.#check(name, schema, result);
  }

  /** Returns a stream of the process. */
  read(stream: number): ReadableStream<Uint8Array<ArrayBuffer>> {
    return readRemote(this.#rpc, stream, (value) => this.#check("readStream", chunk, value));
  }

  kill(reason: string): void {
    this.#killedBecause ??= reason;
    this.#end(reason);
    this.#launched.kill();
  }

  #check<Result>(name: string, schema: z.ZodType<Result>, result: unknown): Result {
    const parsed = schema.safeParse(result);
    if (parsed.success) return parsed.data;
    const reason = `its result of ${name} is invalid: ${z.prettifyError(parsed.error)}`;
    this.kill(reason);
    throw new ProcessEnded(reason);
  }

  #end(reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#rpc.close(new ProcessEnded(reason));
  }
}
