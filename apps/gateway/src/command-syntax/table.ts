import type { ChannelCommand } from "@signalbox/channel";
import { type Language, type Phrases, phrasesIn } from "@signalbox/phrases";
import type { Role } from "@signalbox/routing";

/** One slash command. */
interface CommandSpec {
  readonly name: string;
  /** The least privileged role that may use the command. */
  readonly role: Role;
  /**
   * `at-once`: executed even during a run. `in-turn`: waits in the session's queue, because the command changes the
   * history. Skill commands that call a tool also wait.
   */
  readonly when: "at-once" | "in-turn";
}

/** Commands that are executed even during a run. */
export type AtOnceName =
  | "start"
  | "help"
  | "status"
  | "whoami"
  | "stop"
  | "why"
  | "usage"
  | "queue"
  | "speech"
  | "skill"
  | "skills"
  | "model"
  | "think"
  | "approve"
  | "answer"
  | "trust"
  | "mcp";
/** Commands that wait in the session's queue. */
type InTurnName = "new" | "reset" | "compact";
export type CommandName = AtOnceName | InTurnName;

type Specs<Name extends string, When extends CommandSpec["when"]> = {
  readonly [N in Name]: CommandSpec & { readonly name: N; readonly when: When };
};

/**
 * All commands and the roles that may use them. Members may view their own data and stop or restart their own
 * conversations. Only owners may choose models, spend money and grant permissions.
 */
export const COMMANDS: Specs<AtOnceName, "at-once"> & Specs<InTurnName, "in-turn"> = {
  // Telegram sends this when a person opens a bot.
  start: { name: "start", role: "guest", when: "at-once" },
  help: { name: "help", role: "member", when: "at-once" },
  status: { name: "status", role: "member", when: "at-once" },
  whoami: { name: "whoami", role: "member", when: "at-once" },
  new: {
    name: "new",
    role: "member",
    when: "in-turn",
  },
  reset: { name: "reset", role: "member", when: "in-turn" },
  stop: { name: "stop", role: "member", when: "at-once" },
  why: {
    name: "why",
    role: "member",
    when: "at-once",
  },
  usage: { name: "usage", role: "member", when: "at-once" },
  queue: {
    name: "queue",
    role: "member",
    when: "at-once",
  },
  speech: { name: "speech", role: "member", when: "at-once" },
  skill: {
    name: "skill",
    role: "member",
    when: "at-once",
  },
  skills: {
    name: "skills",
    role: "owner",
    when: "at-once",
  },
  model: {
    name: "model",
    role: "owner",
    when: "at-once",
  },
  think: {
    name: "think",
    role: "owner",
    when: "at-once",
  },
  compact: {
    name: "compact",
    role: "owner",
    when: "in-turn",
  },
  approve: {
    name: "approve",
    role: "owner",
    when: "at-once",
  },
  answer: {
    name: "answer",
    role: "guest",
    when: "at-once",
  },
  trust: {
    name: "trust",
    role: "owner",
    when: "at-once",
  },
  mcp: { name: "mcp", role: "owner", when: "at-once" },
};

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

export function isAtOnce(name: CommandName): name is AtOnceName {
  return COMMANDS[name].when === "at-once";
}

/** Returns true if a role may use a command. */
export function mayUseCommand(name: CommandName, role: Role): boolean {
  const { role: least } = COMMANDS[name];
  return role === "owner" || least === "guest" || (role === "member" && least === "member");
}

/**
 * Returns the commands that platforms list, in the configured language. If no language is configured, each user's own
 * language is used if available. Permissions are checked when a command is used.
 */
export function listedCommands(set?: Language): readonly ChannelCommand[] {
  return specs().map(({ name }) => ({
    name,
    description: phrasesIn(set ?? "en").commands[name],
    localized: { zh: phrasesIn(set ?? "zh").commands[name] },
    usage: getUsage(phrasesIn(set ?? "en"), name),
  }));
}

/** A command in a list for people. */
interface DescribedCommand {
  readonly name: string;
  readonly usage?: string;
  readonly description: string;
}

/** Returns the commands that a role may use, with skill commands after the built-in ones. */
export function describeCommands(
  phrases: Phrases,
  role: Role,
  skills: readonly DescribedSkill[],
): DescribedCommand[] {
  return [...describeBuiltIn(phrases, role), ...describeSkills(phrases, role, skills)];
}

/** Returns the text of `/help` for a role. */
export function helpText(phrases: Phrases, role: Role, skills: readonly DescribedSkill[]): string {
  const toLine = ({ name, usage, description }: DescribedCommand) =>
    `/${name}${usage === undefined ? "" : ` ${usage}`} – ${description}`;
  const ofSkills = describeSkills(phrases, role, skills).map(toLine);
  const own = describeBuiltIn(phrases, role).map(toLine);
  return [...own, ...(ofSkills.length > 0 ? ["", phrases.skillsHead, ...ofSkills] : [])].join("\n");
}

function describeBuiltIn(phrases: Phrases, role: Role): DescribedCommand[] {
  return specs()
    .filter(({ name }) => mayUseCommand(name, role))
    .map(({ name }) => ({
      name,
      usage: getUsage(phrases, name),
      description: phrases.commands[name],
    }));
}

function describeSkills(phrases: Phrases, role: Role, skills: readonly DescribedSkill[]): DescribedCommand[] {
  if (!mayUseCommand("skill", role)) return [];
  return skills.map((skill) => ({
    name: skill.name,
    usage: phrases.usages.ofSkill,
    description: describeSkill(phrases, skill),
  }));
}

/** A skill in a list for people. */
export interface DescribedSkill {
  readonly name: string;
  readonly description: string;
  /** Descriptions by language. */
  readonly localized?: Readonly<Record<string, string>>;
}

/** Returns the description of a skill in the language of the phrases, if the skill has one. */
export function describeSkill({ language }: Phrases, { description, localized }: DescribedSkill): string {
  return localized?.[language] ?? description;
}

function getUsage({ usages }: Phrases, name: CommandName): string | undefined {
  const all: Readonly<Partial<Record<string, string>>> = usages;
  return all[name];
}

/** Returns the commands for `/help` and for the lists of platforms. `/start` comes from the platforms themselves. */
function specs() {
  return Object.values(COMMANDS).flatMap((spec) => (spec.name === "start" ? [] : [spec]));
}
