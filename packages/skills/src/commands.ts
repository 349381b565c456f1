import { toSkillId } from "./ids.ts";
import type { Skill, SkillDispatch } from "./skill.ts";
import { oneLine, sha256 } from "./text.ts";

/** A slash command made from a skill. */
export interface SkillCommand {
  /** Without the slash: `a-z`, `0-9` and `_`, at most 32 characters. */
  readonly name: string;
  readonly skillId: string;
  /** Where the agent finds SKILL.md. */
  readonly location: string;
  /** One line of at most 100 characters. */
  readonly description: string;
  /** Absent: the model is asked to follow the skill. */
  readonly dispatch?: SkillDispatch;
}

export interface CommandOptions {
  /** Names that are taken, without the slash. Default: none. */
  readonly reserved?: readonly string[];
  /** Tools the agent has: a command that calls another tool is not offered. Default: any tool. */
  readonly tools?: readonly string[];
}

/** A message that starts with a skill's command. */
export interface SkillInvocation {
  readonly command: SkillCommand;
  /** What follows the command, trimmed. */
  readonly args: string;
  /** What to give the model instead of the message, if the command has no `dispatch`. */
  readonly prompt: string;
}

/** The longest name that Discord takes. */
const MAX_COMMAND = 32;
/** The longest description that Discord takes. */
const MAX_DESCRIPTION = 100;

/** Makes the slash commands of skills; the first of several with one name has it, the next gets `_2`. */
export function makeCommands(
  skills: readonly Skill[],
  locate: (skill: Skill) => string,
  { reserved = [], tools }: CommandOptions,
): readonly SkillCommand[] {
  const nameOf = commandNamer(reserved);
  return skills
    .filter(({ userInvocable, dispatch }) => {
      if (!userInvocable) return false;
      return dispatch === undefined || tools === undefined || tools.includes(dispatch.tool);
    })
    .map((skill) => ({
      name: nameOf(skill.id),
      skillId: skill.id,
      location: locate(skill),
      description: oneLine(firstSentence(skill.description), MAX_DESCRIPTION),
      ...(skill.dispatch === undefined ? {} : { dispatch: skill.dispatch }),
    }));
}

/** Turns ids into command names of `a-z`, `0-9` and `_`, each given out once. */
export function commandNamer(reserved: Iterable<string>): (id: string) => string {
  const taken = new Set([...reserved].map((name) => name.toLowerCase()));
  return (id) => {
    const plain = id
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, "_")
      .replace(/_+/g, "_")
      .slice(0, MAX_COMMAND)
      .replace(/^_+|_+$/g, "");
    // A name in another script leaves nothing; a digest stays the same whatever other skills there are.
    const base = plain === "" ? `skill_${sha256(id).slice(0, 6)}` : plain;
    let name = base;
    for (let number = 2; taken.has(name); number++) {
      const suffix = `_${number}`;
      name = base.slice(0, MAX_COMMAND - suffix.length) + suffix;
    }
    taken.add(name);
    return name;
  };
}

/** What a description says before it comes to when to use the skill. */
function firstSentence(description: string): string {
  return /^.{12,}?(?:[.!?](?=\s)|[。！？])/u.exec(description)?.[0] ?? description;
}

/**
 * Reads a message that may start with one of these commands: `/weather Shanghai`, `/weather@bot Shanghai`, or
 * `/skill weather Shanghai`. Undefined where it does not.
 */
export function readInvocation(text: string, commands: readonly SkillCommand[]): SkillInvocation | undefined {
  const [, slash = "", rest = ""] = /^\/([^\s@]+)(?:@\S+)?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const direct = commands.find(({ name }) => name === slash.toLowerCase());
  if (direct !== undefined) return invocation(direct, rest);
  if (slash.toLowerCase() !== "skill") return undefined;
  const [, named = "", args = ""] = /^(\S+)(?:\s+([\s\S]*))?$/.exec(rest) ?? [];
  const id = toSkillId(named);
  const command = commands.find(({ name, skillId }) => skillId === id || name === named.toLowerCase());
  return command && invocation(command, args);
}

function invocation(command: SkillCommand, args: string): SkillInvocation {
  const order = `Follow the skill ${command.skillId}: read ${command.location}, then do what it says`;
  const prompt = args === "" ? `${order}.` : `${order} with this:\n\n${args}`;
  return { command, args, prompt };
}
