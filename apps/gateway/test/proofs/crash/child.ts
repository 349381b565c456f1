import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { COMPILED } from "../../support/children.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `signalbox start` as a process of its own. */
export interface GatewayChild {
  readonly pid: number;
  /** When it was started, by `performance.now()`. */
  readonly startedAt: number;
  /** Where it listens; rejects where it ends before it does. */
  readonly listening: Promise<string>;
  readonly exited: Promise<Exit>;
  readonly ended: () => boolean;
  /** Everything it wrote to its standard error. */
  readonly said: () => string;
  signal(name: NodeJS.Signals): void;
}

/** The built command line. */
const MAIN = fileURLToPath(new URL("../../../dist/signalbox.js", import.meta.url));
/** Its `start` with failpoints; `SIGNALBOX_CRASH_MAIN` names that of another build. */
export const TUNED_MAIN: string =
  process.env["SIGNALBOX_CRASH_MAIN"] ?? fileURLToPath(new URL("./main.ts", import.meta.url));

export interface ChildOptions {
  /** The program. Default: the built command line. */
  readonly main?: string;
  /** The longest file it may write, in bytes, as the system enforces it. Default: what the system's limit is. */
  readonly fileBytes?: number;
}

export function startGateway(
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  { main = MAIN, fileBytes }: ChildOptions = {},
): GatewayChild {
  const startedAt = performance.now();
  const line = [process.execPath, main, "start", "--home", home];
  // The shell counts in blocks of 512 bytes, and becomes the gateway.
  const limited = ["sh", "-c", 'ulimit -S -f "$0" && exec "$@"', String(Math.floor((fileBytes ?? 0) / 512))];
  const [command = "", ...args] = fileBytes === undefined ? line : [...limited, ...line];
  const child = spawn(command, args, {
    env: { HOME: home, PATH: process.env["PATH"], NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${main} could not be started`);
  const listening = Promise.withResolvers<string>();
  listening.promise.catch(() => {});
  let said = "";
  let ended = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const url = /listens on (http:\S+)/.exec(said)?.[1];
    if (url !== undefined) listening.resolve(url);
  });
  const exited = new Promise<Exit>((resolve) =>
    child.once("close", (code, signal) => {
      ended = true;
      listening.reject(new Error(`the gateway ended before it listened:\n${said}`));
      resolve({ code, signal });
    }),
  );
  return {
    pid,
    startedAt,
    listening: listening.promise,
    exited,
    ended: () => ended,
    said: () => said,
    signal: (name) => void child.kill(name),
  };
}
