import { toSkillId } from "./ids.ts";
import type { Skill } from "./skill.ts";

/** What an operator says of one skill. */
export interface SkillEntry {
  /** False: no agent has it. */
  readonly enabled?: boolean | undefined;
  /** What commands of agents that can use it find in their environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The same for the one variable that the skill calls its `primaryEnv`. */
  readonly apiKey?: string | undefined;
}

/** The entries of an operator, by the ids of their skills. */
export type SkillEntries = ReadonlyMap<string, SkillEntry>;

export function entriesById(entries: Readonly<Record<string, SkillEntry>> = {}): SkillEntries {
  return new Map(
    Object.entries(entries).flatMap(([name, entry]) => {
      const id = toSkillId(name);
      return id === undefined ? [] : [[id, entry] as const];
    }),
  );
}

/** What the entry of a skill sets. A variable in its `env` wins over the one the skill names for its key. */
export function environmentOf(
  { id, primaryEnv }: Pick<Skill, "id" | "primaryEnv">,
  entries: SkillEntries,
): Readonly<Record<string, string>> {
  const { env, apiKey } = entries.get(id) ?? {};
  return primaryEnv === undefined || apiKey === undefined ? { ...env } : { [primaryEnv]: apiKey, ...env };
}

/** By these a program finds or loads other code, or sends what it has elsewhere. */
const STEERING =
  /^(?:PATH|HOME|SHELL|ENV|IFS|PS4|PERL5.*|RUBY.*|PYTHON.*|NODE_.*|NPM_.*|JAVA_.*|LD_.*|DYLD_.*|GCONV_PATH|BASH_.*|SHELLOPTS|GIT_.*|SSH_.*|EDITOR|PAGER|.*_PROXY|.*_(?:URL|HOST|ENDPOINT))$/;

/** Whether a skill may call a variable its own: it is to hold a key, and must not change what programs do. */
export function isForKeys(name: string): boolean {
  return /^[A-Z][A-Z0-9_]{1,63}$/.test(name) && !STEERING.test(name);
}
