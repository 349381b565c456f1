import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
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
      if (stats === undefined) throw new Error(`there is no ${file}`);
      if (!stats.isFile()) throw new Error("it is not a file");
      if (stats.size > LONGEST) throw new Error(`it is longer than ${LONGEST} bytes`);
      if (isOpenToOthers(stats)) throw new Error(`others can read it; \`chmod 600 ${file}\` ends that`);
      return readFileSync(file, "utf8");
    },
    command([program = "", ...args]) {
      try {
        return execFileSync(program, args, {
          cwd: home.dir,
          env: { ...env },
          timeout: COMMAND_MS,
          maxBuffer: LONGEST,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
      } catch (error) {
        // Its own words hold the whole command, and what the program has said so far.
        const end = endOf(error);
        throw new Error(end === "ENOENT" ? `there is no program ${program}` : `it ended with ${end}`);
      }
    },
  };
}

function endOf(error: unknown): string {
  if (!(error instanceof Error)) return "an error";
  if ("status" in error && typeof error.status === "number") return `status ${error.status}`;
  return "code" in error && typeof error.code === "string" ? error.code : "an error";
}
