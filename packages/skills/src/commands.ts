import { commandNamer, oneLine, toSkillId } from "./names.ts";
import type { CommandOptions, Skill, SkillCommand, SkillInvocation } from "./types.ts";

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
