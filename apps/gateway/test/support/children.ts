import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeFeishu } from "@signalbox/testkit/feishu";
import { eventually } from "./eventually.ts";

export interface Child {
  readonly process: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

export interface StartedChild extends Child {
  readonly url: string;
  /** Delivers an event as its platform does: again while it is refused, until the gateway is told to end. */
  post(event: unknown): Promise<Response>;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/** Where all programs of tests keep compiled code, which each home would have to begin anew. */
export const COMPILED: string = join(tmpdir(), "signalbox-test-compiled");

/** Starts a program of Node.js. */
export function spawnProgram(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  input: string,
): Child {
  const child = spawn(process.execPath, args, {
    env: { NODE_COMPILE_CACHE: COMPILED, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // One that ends without reading it all is none of the test's concern.
  child.stdin.on("error", () => {}).end(input);
  const out = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      out[name] += text;
    });
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  );
  return { process: child, stdout: () => out.stdout, stderr: () => out.stderr, exited };
}

/** Kills a process that has not ended by itself. */
export async function endChild({ process, exited }: Child): Promise<void> {
  if (process.exitCode === null && process.signalCode === null) process.kill("SIGKILL");
  await exited;
}

/** A gateway as a process of its own, once it listens. */
export async function listeningChild(child: Child, feishu: FakeFeishu): Promise<StartedChild> {
  const listening = /listens on (http:\S+)/;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await eventually(() => ended || listening.test(child.stderr()), "the gateway listens");
  const url = listening.exec(child.stderr())?.[1];
  if (url === undefined) throw new Error(`the gateway did not start:\n${child.stderr()}`);
  return {
    ...child,
    url,
    post: (event) => deliver(feishu, url, event, () => ended),
    end: (signal) => {
      ended = true;
      child.process.kill(signal);
      return child.exited;
    },
  };
}

/** Posts an event to the Feishu account `main` as its platform does: again while it is refused. */
export async function deliver(
  feishu: FakeFeishu,
  url: string,
  event: unknown,
  mayStop: () => boolean = () => false,
): Promise<Response> {
  const post = () => feishu.postEvent(`${url}/channels/feishu/main/events`, event);
  let answer = await post();
  await eventually(async () => {
    if (answer.status !== 503 || mayStop()) return true;
    answer = await post();
    return false;
  }, "the gateway takes an event");
  return answer;
}
