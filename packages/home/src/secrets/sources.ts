import { execFile, execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { promisify } from "node:util";
import type { SecretSources } from "@signalbox/config";
import { configuredPath, type Env, type Home } from "../layout.ts";
import { isOpenToOthers } from "../permissions.ts";

const LONGEST = 65_536;
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
      if (stats.size > LONGEST) throw new Error(`it is longer than ${LONGEST} bytes`);
      if (isOpenToOthers(stats)) throw new Error(`other users can read it; run \`chmod 600 ${file}\``);
      return readFileSync(file, "utf8");
    },
    command([program = "", ...args]) {
      try {
        return execFileSync(program, args, { ...startOf(home, env), stdio: ["ignore", "pipe", "ignore"] });
      } catch (error) {
        throw failureOf(program, error);
      }
    },
  };
}

/** Assumes that every secret in a file or program exists, without reading or starting anything. */
export const ASSUMED_SECRETS: SecretSources = {
  file: () => ASSUMED,
  command: () => ASSUMED,
};
const ASSUMED = "a secret that is taken to be there";

/** Runs programs in parallel. Returns a source with their outputs. */
export async function askPrograms(
  home: Home,
  env: Env,
  programs: readonly (readonly string[])[],
): Promise<SecretSources["command"]> {
  const said = new Map<string, string | Error>();
  const ask = async ([program = "", ...args]: readonly string[]): Promise<string | Error> => {
    try {
      const asked = execute(program, args, startOf(home, env));
      asked.child.stdin?.on("error", () => {}).end();
      return (await asked).stdout;
    } catch (error) {
      return failureOf(program, error);
    }
  };
  await Promise.all(programs.map(async (argv) => said.set(JSON.stringify(argv), await ask(argv))));
  return (argv) => {
    const answer = said.get(JSON.stringify(argv)) ?? new Error("it was not asked");
    if (answer instanceof Error) throw answer;
    return answer;
  };
}

const execute = promisify(execFile);

function startOf(home: Home, env: Env) {
  return {
    cwd: home.dir,
    env: { ...env },
    timeout: COMMAND_MS,
    maxBuffer: LONGEST,
    encoding: "utf8",
  } as const;
}

/** Replaces the error of a program: the original message contains the whole command and its output. */
function failureOf(program: string, error: unknown): Error {
  const end = endOf(error);
  return new Error(end === "ENOENT" ? `the program ${program} was not found` : `it ended with ${end}`);
}

function endOf(error: unknown): string {
  const { status, code = status, killed, signal }: Partial<Ended> = error instanceof Error ? error : {};
  if (typeof code === "number") return `status ${code}`;
  if (typeof code === "string") return code;
  return killed === true ? "ETIMEDOUT" : String(signal ?? "an error");
}

/** Fields of Node's errors for a program that failed. `execFileSync` sets `status`. */
interface Ended extends Error {
  readonly status: unknown;
  readonly code: unknown;
  readonly killed: unknown;
  readonly signal: unknown;
}
