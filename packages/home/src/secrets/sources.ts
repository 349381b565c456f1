import { execFile, execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { promisify } from "node:util";
import type { SecretSources } from "@signalbox/config";
import { configuredPath, type Env, type Home } from "../layout.ts";
import { isOpenToOthers } from "../permissions.ts";

const LONGEST = 65_536;
const COMMAND_MS = 10_000;

/** Secrets in files, and those that programs such as `pass` or `op` know. They are asked at each start. */
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

/** Takes every secret to be there that is kept elsewhere: nothing is read or started to find out. */
export const ASSUMED_SECRETS: SecretSources = {
  file: () => ASSUMED,
  command: () => ASSUMED,
};
const ASSUMED = "a secret that is taken to be there";

/** Asks programs at the same time, without waiting in between. Gives what each of them said. */
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

/** Its own words hold the whole command, and what the program has said so far. */
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

/** What Node.js notes of how a program ended; `status` where it was waited for. */
interface Ended extends Error {
  readonly status: unknown;
  readonly code: unknown;
  readonly killed: unknown;
  readonly signal: unknown;
}
