import { type ChildProcess, spawn } from "node:child_process";
import { Duplex, type Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { ChannelContext } from "../contract/definition.ts";
import { type Handler, Line } from "./line.ts";
import { logPrinted } from "./log-printed.ts";

/**
 * What a program needs to run at all, and to reach the network as its host does. The host's secrets are not among them,
 * but for the password that the address of a proxy may have: without it nothing gets out.
 */
const PASSED_ON = [
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

/** Beside this file, whether it was built or runs as it is written. */
const FILE = import.meta.url.endsWith(".ts") ? "./account-worker.ts" : "./account-worker.js";

/** What runs the other end of a line, a process as a rule. */
export interface Launched {
  readonly pid?: number | undefined;
  /** To `serveAccount`. */
  readonly line: Duplex;
  /** What it prints, for the log. */
  readonly printed: readonly Readable[];
  /** Resolves once it is gone, with why. */
  readonly ended: Promise<string>;
  /** Ends it at once. */
  kill(): void;
}

/** A way to bring up what runs an account. */
export type Launch = () => Launched;

/** A process with one account, and the line to it. */
export interface AccountProcess {
  readonly pid: number | undefined;
  readonly line: Line;
  /** Resolves once it is gone, with why. */
  readonly ended: Promise<string>;
  /** Ends it. */
  end(): Promise<void>;
}

/**
 * Starts a process. It is told what it needs over the line, because other processes can read arguments and
 * environments.
 */
export function startProcess(
  launch: Launch,
  handlers: readonly Handler[],
  context: Pick<ChannelContext, "logger" | "clock">,
): AccountProcess {
  const launched = launch();
  logPrinted(launched.printed, context);
  let cutBecause: string | undefined;
  const ended = launched.ended.then((why) => cutBecause ?? why);
  const line = new Line(launched.line, handlers, (reason) => {
    cutBecause = reason;
    launched.kill();
  });
  return {
    pid: launched.pid,
    line,
    ended,
    async end() {
      line.close("it was told to end");
      await ended;
    },
  };
}

/** A process of our own program. */
export function spawnWorker(): Launched {
  const env = Object.fromEntries(
    PASSED_ON.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])),
  );
  const child = spawn(process.execPath, [fileURLToPath(new URL(FILE, import.meta.url))], {
    env,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`it could not be started: ${error.message}`));
    child.once("close", (code, signal) =>
      resolve(signal === null ? `it ended with ${code}` : `it was ended by ${signal}`),
    );
  });
  return {
    pid: child.pid,
    line: lineOf(child),
    printed: [child.stdout, child.stderr].filter((stream) => stream !== null),
    ended,
    kill: () => void child.kill("SIGKILL"),
  };
}

function lineOf({ stdio }: ChildProcess): Duplex {
  const line = stdio[3];
  if (!(line instanceof Duplex)) throw new TypeError("a process has a line as descriptor 3");
  return line;
}
