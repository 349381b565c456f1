import type { ChannelCommand } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";

/** One slash command. */
interface CommandSpec {
  readonly name: string;
  /** What may follow the name. */
  readonly usage?: string;
  /** One line for `/help`. */
  readonly what: string;
  /** The least role that may use it. */
  readonly role: Role;
  /**
   * `at-once`: answered while a turn runs, too. `in-turn`: waits for its place in the conversation, since it changes
   * the history. (A skill whose command calls a tool waits, too.)
   */
  readonly when: "at-once" | "in-turn";
}

/** Commands that are answered while a turn runs, too. */
export type AtOnceName =
  | "help"
  | "status"
  | "whoami"
  | "stop"
  | "why"
  | "usage"
  | "queue"
  | "skill"
  | "skills"
  | "model"
  | "think"
  | "approve"
  | "answer"
  | "trust";
/** Commands that wait for their place in the conversation. */
type InTurnName = "new" | "reset" | "compact";
export type CommandName = AtOnceName | InTurnName;

type Specs<Name extends string, When extends CommandSpec["when"]> = {
  readonly [N in Name]: CommandSpec & { readonly name: N; readonly when: When };
};

/**
 * Every command and who may use it. Members have those that show what concerns them, or end a turn or a conversation
 * of theirs; what chooses models, spends, or permits is the owners'.
 */
export const COMMANDS: Specs<AtOnceName, "at-once"> & Specs<InTurnName, "in-turn"> = {
  help: { name: "help", what: "what you can say here", role: "member", when: "at-once" },
  status: { name: "status", what: "agent, model and what goes on now", role: "member", when: "at-once" },
  whoami: { name: "whoami", what: "who you are to this gateway", role: "member", when: "at-once" },
  new: {
    name: "new",
    usage: "[message]",
    what: "start a new conversation",
    role: "member",
    when: "in-turn",
  },
  reset: { name: "reset", usage: "[message]", what: "the same as /new", role: "member", when: "in-turn" },
  stop: { name: "stop", what: "stop the running turn now", role: "member", when: "at-once" },
  why: {
    name: "why",
    usage: "[message]",
    what: "how the last message, or the one you name, was dealt with",
    role: "member",
    when: "at-once",
  },
  usage: { name: "usage", what: "tokens and cost", role: "member", when: "at-once" },
  queue: {
    name: "queue",
    usage: "[steer|followup|collect|interrupt|default]",
    what: "what happens to messages that come while a turn runs; owners change it",
    role: "member",
    when: "at-once",
  },
  skill: {
    name: "skill",
    usage: "<name> [text]",
    what: "use a skill; without a name, list them",
    role: "member",
    when: "at-once",
  },
  skills: {
    name: "skills",
    usage: "[approve <name> <hash>]",
    what: "skills that are new or have changed and wait for you, with what changed",
    role: "owner",
    when: "at-once",
  },
  model: {
    name: "model",
    usage: "[name|default] [message]",
    what: "the model of this conversation, or of one message",
    role: "owner",
    when: "at-once",
  },
  think: {
    name: "think",
    usage: "[level|default] [message]",
    what: "how much to think in this conversation, or for one message",
    role: "owner",
    when: "at-once",
  },
  compact: {
    name: "compact",
    what: "put a summary in place of the older conversation",
    role: "owner",
    when: "in-turn",
  },
  approve: {
    name: "approve",
    usage: "[id] [allow|allow-always|deny]",
    what: "decide about a tool call that waits; without an id, show what waits",
    role: "owner",
    when: "at-once",
  },
  answer: {
    name: "answer",
    usage: "<id> <answer>",
    what: "answer what an agent has asked you; writing the answer by itself does the same",
    role: "guest",
    when: "at-once",
  },
  trust: {
    name: "trust",
    usage: "<file or folder>",
    what: "vouch for a file in the workspace that others wrote: runs may believe it",
    role: "owner",
    when: "at-once",
  },
};

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

export function isAtOnce(name: CommandName): name is AtOnceName {
  return COMMANDS[name].when === "at-once";
}

/** Whether a role is enough for a command. */
export function mayUseCommand(name: CommandName, role: Role): boolean {
  const { role: least } = COMMANDS[name];
  return role === "owner" || least === "guest" || (role === "member" && least === "member");
}

/** The commands as platforms list them. Who may use which is decided when one comes in. */
export function listedCommands(): readonly ChannelCommand[] {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  return specs.map(({ name, what, usage }) => ({
    name,
    description: what,
    ...(usage === undefined ? {} : { usage }),
  }));
}

/** The text of `/help` for a role, with the commands of skills behind the built-in ones. */
export function helpText(
  role: Role,
  skills: readonly { readonly name: string; readonly description: string }[],
): string {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  const own = specs.flatMap((spec) =>
    isCommandName(spec.name) && mayUseCommand(spec.name, role)
      ? [`/${spec.name}${spec.usage === undefined ? "" : ` ${spec.usage}`} – ${spec.what}`]
      : [],
  );
  const ofSkills = mayUseCommand("skill", role)
    ? skills.map(({ name, description }) => `/${name} [text] – ${description}`)
    : [];
  return [...own, ...(ofSkills.length > 0 ? ["", "Skills:", ...ofSkills] : [])].join("\n");
}
