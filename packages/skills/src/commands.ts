import { toSkillId } from "./ids.ts";
import type { Skill, SkillDispatch } from "./skill.ts";
import { MAX_COMMAND_DESCRIPTION, oneLine, sha256 } from "./text.ts";

/** The slash command of a skill. */
export interface SkillCommand {
  /** Without the slash: `a-z`, `0-9` and `_`, at most 32 characters. */
  readonly name: string;
  readonly skillId: string;
  /** Path of SKILL.md for the agent. */
  readonly location: string;
  /** One line of at most 100 characters. */
  readonly description: string;
  /** Descriptions by language, for example `zh`. */
  readonly localized?: Readonly<Record<string, string>>;
  /** The tool that the command calls. Absent: the model follows the skill. */
  readonly dispatch?: SkillDispatch;
}

export interface CommandOptions {
  /** Names of other commands, without the slash. Default: none. */
  readonly reserved?: readonly string[];
  /** The agent's tools. A command that calls another tool is left out. Default: any tool. */
  readonly tools?: readonly string[];
}

/** A message that starts with a skill's command. */
export interface SkillInvocation {
  readonly command: SkillCommand;
  /** The text after the command, trimmed. */
  readonly args: string;
  /** The prompt for the model that replaces the message, if the command has no `dispatch`. */
  readonly prompt: string;
}

/** The longest name that Discord accepts. */
const MAX_COMMAND = 32;

/** Creates the slash commands of skills. If names collide, the second command gets the suffix `_2`. */
export function createCommands(
  skills: readonly Skill[],
  locate: (skill: Skill) => string,
  { reserved = [], tools }: CommandOptions,
): readonly SkillCommand[] {
  const getName = createCommandNames(reserved);
  return skills
    .filter(({ userInvocable, dispatch }) => {
      if (!userInvocable) return false;
      return dispatch === undefined || tools === undefined || tools.includes(dispatch.tool);
    })
    .map((skill) => ({
      name: getName(skill.id),
      skillId: skill.id,
      location: locate(skill),
      description: oneLine(firstSentence(skill.description), MAX_COMMAND_DESCRIPTION),
      localized: skill.localized,
      dispatch: skill.dispatch,
    }));
}

/** Creates a function that converts ids to unique command names of `a-z`, `0-9` and `_`. */
export function createCommandNames(reserved: Iterable<string>): (id: string) => string {
  const taken = new Set([...reserved].map((name) => name.toLowerCase()));
  return (id) => {
    const plain = id
      .toLowerCase()
      .replace(/[^a-z0-9_]+/g, "_")
      .replace(/_+/g, "_")
      .slice(0, MAX_COMMAND)
      .replace(/^_+|_+$/g, "");
    // Nothing is left of a name in another script. A hash does not depend on the other skills.
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

/** Returns the first sentence of a description. The rest usually says when to use the skill. */
function firstSentence(description: string): string {
  return /^.{12,}?(?:[.!?](?=\s)|[。！？])/u.exec(description)?.[0] ?? description;
}

/**
 * Parses a message that may start with one of these commands: `/weather Shanghai`, `/weather@bot Shanghai`, or
 * `/skill weather Shanghai`.
 *
 * @returns undefined for any other message
 */
export function readInvocation(text: string, commands: readonly SkillCommand[]): SkillInvocation | undefined {
  const [, slash = "", rest = ""] = /^\/([^\s@]+)(?:@\S+)?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  const direct = commands.find(({ name }) => name === slash.toLowerCase());
  if (direct !== undefined) return createInvocation(direct, rest);
  if (slash.toLowerCase() !== "skill") return undefined;
  const [, named = "", args = ""] = /^(\S+)(?:\s+([\s\S]*))?$/.exec(rest) ?? [];
  const id = toSkillId(named);
  const command = commands.find(({ name, skillId }) => skillId === id || name === named.toLowerCase());
  return command && createInvocation(command, args);
}

function createInvocation(command: SkillCommand, args: string): SkillInvocation {
  const task = `Follow the skill ${command.skillId}: read ${command.location}, then do what it says`;
  const prompt = args === "" ? `${task}.` : `${task} with this:\n\n${args}`;
  return { command, args, prompt };
}
