import { toSkillId } from "./ids.ts";
import type { Skill } from "./skill.ts";

/** An operator's settings for one skill. */
export interface SkillEntry {
  /** False: no agent can use it. */
  readonly enabled?: boolean | undefined;
  /** Environment variables for the commands of agents that can use it. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Value of the variable that the skill names as its `primaryEnv`. */
  readonly apiKey?: string | undefined;
}

/** The operator's settings by the ids of the skills. */
export type SkillEntries = ReadonlyMap<string, SkillEntry>;

export function entriesById(entries: Readonly<Record<string, SkillEntry>> = {}): SkillEntries {
  return new Map(
    Object.entries(entries).flatMap(([name, entry]) => {
      const id = toSkillId(name);
      return id === undefined ? [] : [[id, entry] as const];
    }),
  );
}

/** Returns the environment variables that the settings of a skill define. `env` wins over `apiKey`. */
export function getEnvironment(
  { id, primaryEnv }: Pick<Skill, "id" | "primaryEnv">,
  entries: SkillEntries,
): Readonly<Record<string, string>> {
  const { env, apiKey } = entries.get(id) ?? {};
  return primaryEnv === undefined || apiKey === undefined ? { ...env } : { [primaryEnv]: apiKey, ...env };
}

/** Variables that make programs find or load other code, or send data elsewhere. */
const STEERING =
  /^(?:PATH|HOME|SHELL|ENV|IFS|PS4|PERL5.*|RUBY.*|PYTHON.*|NODE_.*|NPM_.*|JAVA_.*|LD_.*|DYLD_.*|GCONV_PATH|BASH_.*|SHELLOPTS|GIT_.*|SSH_.*|EDITOR|PAGER|.*_PROXY|.*_(?:URL|HOST|ENDPOINT))$/;

/** Returns true if a skill may name a variable: it must be for a key and must not change what programs do. */
export function isForKeys(name: string): boolean {
  return /^[A-Z][A-Z0-9_]{1,63}$/.test(name) && !STEERING.test(name);
}
