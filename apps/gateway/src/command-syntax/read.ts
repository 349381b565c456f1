import type { ThinkingLevel } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import { distance } from "fastest-levenshtein";
import { COMMANDS, type CommandName, isAtOnce, isCommandName, mayUseCommand } from "./table.ts";

/** The value that a directive sets; `default` clears the session's override. */
export interface Choice {
  /** Model as `provider/model`. */
  readonly model?: string;
  readonly thinking?: ThinkingLevel | "default";
}

/** A command or directive in a message. */
export type Order =
  /** Starts a run with a changed text, model or thinking level, or in a new history. */
  | { readonly kind: "turn"; readonly text: string; readonly choice: Choice; readonly fresh: boolean }
  | { readonly kind: "command"; readonly name: CommandName; readonly args: string }
  /** `/model x` or `/think y` without a text: changes the session. */
  | { readonly kind: "choose"; readonly name: "model" | "think"; readonly choice: Choice }
  /** A skill's command that calls a tool. */
  | { readonly kind: "dispatch"; readonly command: SkillCommand; readonly args: string }
  /** A command that the speaker may not use. */
  | { readonly kind: "refused"; readonly name: string }
  /** An unknown command: a single word, or a name that resembles a command. */
  | { readonly kind: "unknown"; readonly name: string };

/** A command that a skill defines. */
interface SkillCommand {
  readonly name: string;
  /** The tool to call directly. If absent, the agent is prompted to follow the skill. */
  readonly dispatch?: { readonly tool: string };
}

/** A text that starts with a skill's command. */
interface SkillInvocation {
  readonly command: SkillCommand;
  readonly args: string;
  /** Prompt for the agent to follow the skill. */
  readonly prompt: string;
}

/** Facts that parsing a command depends on. */
export interface ReadingContext {
  readonly role: Role;
  /** Parses a text as a command of one of the agent's skills. */
  readonly skill: (text: string) => SkillInvocation | undefined;
  /** Resolves a typed model name to `provider/model` if the model is usable. */
  readonly model: (typed: string) => string | undefined;
}

/** The fields of a message that may contain an order. */
export type OrderedMessage = Pick<
  MessageEvent,
  "text" | "conversation" | "addressed" | "forwarded" | "turn"
> &
  Partial<Pick<MessageEvent, "media">>;

/** Minimum length of names that may differ by two letters. Shorter names may differ by one. */
const LONG_NAME = 6;

export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/**
 * Parses the order in a message. Returns `undefined` for plain text. In a group, only a message that addresses the bot
 * can be an order. A forwarded message is never an order, because another person wrote it. Neither is text that its
 * sender intends only for the model.
 */
export function readOrder(event: OrderedMessage, context: ReadingContext): Order | undefined {
  if (event.forwarded !== undefined || event.turn?.verbatim === true) return undefined;
  if (event.conversation.kind !== "direct" && event.addressed === "none") return undefined;
  const order = readText(event.text, context);
  return order === undefined || event.media === undefined || event.media.length === 0
    ? order
    : withFiles(order);
}

/** A message with files starts a run even without text, so directives before it apply to that run. */
function withFiles(order: Order): Order {
  if (order.kind === "choose") return { kind: "turn", text: "", choice: order.choice, fresh: false };
  const begins = order.kind === "command" && (order.name === "new" || order.name === "reset");
  return begins ? { kind: "turn", text: "", choice: {}, fresh: true } : order;
}

function readText(text: string, context: ReadingContext): Order | undefined {
  const called = slashIn(text);
  if (called === undefined) return undefined;
  const { name, args } = called;
  if (!isCommandName(name)) {
    const isMeant = args === "" || resemblesCommand(name);
    return readSkill(text, context) ?? (isMeant ? { kind: "unknown", name } : undefined);
  }
  if (!mayUseCommand(name, context.role)) return { kind: "refused", name };
  switch (name) {
    case "new":
    case "reset":
      return args === ""
        ? { kind: "command", name, args }
        : { kind: "turn", text: args, choice: {}, fresh: true };
    case "skill":
      return readSkill(text, context) ?? { kind: "command", name, args };
    case "model":
    case "think":
      return readDirectives(text, name, context);
    default:
      return { kind: "command", name, args };
  }
}

/** Returns true if an unknown name looks like a misspelled command. Text such as `/etc/hosts` does not. */
function resemblesCommand(name: string): boolean {
  const letters = name.length < LONG_NAME ? 1 : 2;
  return Object.keys(COMMANDS).some((known) => distance(name, known) <= letters);
}

/** Parses directives before a message, such as `/think high /model openai/gpt-5.2 do it`. */
function readDirectives(text: string, first: "model" | "think", context: ReadingContext): Order {
  let choice: Choice = {};
  let rest = text;
  for (;;) {
    const called = slashIn(rest);
    if (called?.name !== "model" && called?.name !== "think") break;
    const [, value = "", after = ""] = /^(\S*)\s*([\s\S]*)$/.exec(called.args) ?? [];
    const chosen = called.name === "model" ? chooseModel(value, context) : chooseLevel(value);
    // Without a valid value, the command shows the current setting or the possible values.
    if (chosen === undefined) return { kind: "command", name: called.name, args: value };
    choice = { ...choice, ...chosen };
    rest = after;
  }
  if (rest === "") return { kind: "choose", name: first, choice };
  const skill = readSkill(rest, context);
  if (skill !== undefined && skill.kind !== "turn") return skill;
  return { kind: "turn", text: skill?.text ?? rest, choice, fresh: false };
}

function chooseModel(typed: string, context: ReadingContext): Choice | undefined {
  const model = typed === "default" ? typed : typed === "" ? undefined : context.model(typed);
  return model === undefined ? undefined : { model };
}

function chooseLevel(typed: string): Choice | undefined {
  const level = [...THINKING_LEVELS, "default" as const].find((one) => one === typed.toLowerCase());
  return level === undefined ? undefined : { thinking: level };
}

function readSkill(text: string, { role, skill }: ReadingContext): Order | undefined {
  const invocation = skill(text);
  if (invocation === undefined) return undefined;
  const { command, args, prompt } = invocation;
  if (!mayUseCommand("skill", role)) return { kind: "refused", name: command.name };
  return command.dispatch === undefined
    ? { kind: "turn", text: prompt, choice: {}, fresh: false }
    : { kind: "dispatch", command, args };
}

/** Parses `/name args` or `/name@bot args`, and converts the name to lower case. */
function slashIn(text: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ""] = /^\/([A-Za-z][\w-]{0,63})(?:@\S+)?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), args: args.trim() };
}

/** Returns true if a command must wait in the session's queue. */
export function waitsInQueue(order: Order): boolean {
  switch (order.kind) {
    case "turn":
    case "dispatch":
      return true;
    case "command":
      return !isAtOnce(order.name);
    case "choose":
    case "refused":
    case "unknown":
      return false;
  }
}
