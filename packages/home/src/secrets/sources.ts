import { execFile, execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { promisify } from "node:util";
import type { SecretSources } from "@signalbox/config";
import { configuredPath, type Env, type Home } from "../layout.ts";
import { isAccessibleByOthers } from "../permissions.ts";

const MAX_SECRET_BYTES = 65_536;
const COMMAND_MS = 10_000;

/**
 * Returns sources that read secrets from files and from programs such as `pass` or `op`, each time the configuration is
 * read.
 */
export function secretSources(home: Home, env: Env): SecretSources {
  return {
    file(path) {
      const file = configuredPath(home, path);
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) throw new Error(`${file} does not exist`);
      if (!stats.isFile()) throw new Error("it is not a file");
      if (stats.size > MAX_SECRET_BYTES) throw new Error(`it is longer than ${MAX_SECRET_BYTES} bytes`);
      if (isAccessibleByOthers(stats)) throw new Error(`other users can read it; run \`chmod 600 ${file}\``);
      return readFileSync(file, "utf8");
    },
    command([program = "", ...args]) {
      try {
        return execFileSync(program, args, {
          ...getProcessOptions(home, env),
          stdio: ["ignore", "pipe", "ignore"],
        });
      } catch (error) {
        throw describeFailure(program, error);
      }
    },
  };
}

/** Assumes that every secret in a file or program exists, without reading or starting anything. */
export const ASSUMED_SECRETS: SecretSources = {
  file: () => ASSUMED,
  command: () => ASSUMED,
};
/** Valid in every place of a secret. `store.url` must be the URL of a database. */
const ASSUMED = "postgres://a-secret-that-is-assumed-to-exist";

/** Runs programs in parallel. Returns a source with their outputs. */
export async function runSecretPrograms(
  home: Home,
  env: Env,
  programs: readonly (readonly string[])[],
): Promise<SecretSources["command"]> {
  const outputs = new Map<string, string | Error>();
  const run = async ([program = "", ...args]: readonly string[]): Promise<string | Error> => {
    try {
      const running = execute(program, args, getProcessOptions(home, env));
      running.child.stdin?.on("error", () => {}).end();
      return (await running).stdout;
    } catch (error) {
      return describeFailure(program, error);
    }
  };
  await Promise.all(programs.map(async (argv) => outputs.set(JSON.stringify(argv), await run(argv))));
  return (argv) => {
    const answer = outputs.get(JSON.stringify(argv)) ?? new Error("it was not run");
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

const execute = promisify(execFile);

function getProcessOptions(home: Home, env: Env) {
  return {
    cwd: home.dir,
    env: { ...env },
    timeout: COMMAND_MS,
    maxBuffer: MAX_SECRET_BYTES,
    encoding: "utf8",
  } as const;
}

/** Replaces the error of a program: the original message contains the whole command and its output. */
function describeFailure(program: string, error: unknown): Error {
  const end = getExitReason(error);
  return new Error(end === "ENOENT" ? `the program ${program} was not found` : `it ended with ${end}`);
}

function getExitReason(error: unknown): string {
  const { status, code = status, killed, signal }: Partial<ExitError> = error instanceof Error ? error : {};
  if (typeof code === "number") return `status ${code}`;
  if (typeof code === "string") return code;
  return killed === true ? "ETIMEDOUT" : String(signal ?? "an error");
}

/** Fields of Node's errors for a program that failed. `execFileSync` sets `status`. */
interface ExitError extends Error {
  readonly status: unknown;
  readonly code: unknown;
  readonly killed: unknown;
  readonly signal: unknown;
}
