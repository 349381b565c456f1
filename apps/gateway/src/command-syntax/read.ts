import type { ThinkingLevel } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Role } from "@signalbox/routing";
import { distance } from "fastest-levenshtein";
import { COMMANDS, type CommandName, isAtOnce, isCommandName, mayUseCommand } from "./table.ts";

/** The value that a directive sets; `default` clears the session's override. */
export interface Choice {
  /** `provider/model`. */
  readonly model?: string;
  readonly thinking?: ThinkingLevel | "default";
}

/** A command or directive read from a message. */
export type Order =
  /** A turn of the agent with another text, model, level or a new conversation. */
  | { readonly kind: "turn"; readonly text: string; readonly choice: Choice; readonly fresh: boolean }
  | { readonly kind: "command"; readonly name: CommandName; readonly args: string }
  /** `/model x` or `/think y` alone: for the session. */
  | { readonly kind: "choose"; readonly name: "model" | "think"; readonly choice: Choice }
  /** A skill's command that calls a tool. */
  | { readonly kind: "dispatch"; readonly command: SkillCommand; readonly args: string }
  /** A command the speaker may not use. */
  | { readonly kind: "refused"; readonly name: string }
  /** An unknown command: a single word, or one that resembles a command. */
  | { readonly kind: "unknown"; readonly name: string };

/** A command that a skill brings. */
interface SkillCommand {
  readonly name: string;
  /** Calls a tool directly. Absent: the agent is asked to follow the skill. */
  readonly dispatch?: { readonly tool: string };
}

/** A text that begins with a skill's command. */
interface SkillInvocation {
  readonly command: SkillCommand;
  readonly args: string;
  /** The words that ask the agent to follow the skill. */
  readonly prompt: string;
}

/** Everything that reading a command depends on. */
export interface ReadingContext {
  readonly role: Role;
  /** Reads a text as a command of one of the agent's skills. */
  readonly skill: (text: string) => SkillInvocation | undefined;
  /** The `provider/model` of a typed name, if it is usable. */
  readonly model: (typed: string) => string | undefined;
}

/** A message, as far as it may be an order. */
export type OrderedMessage = Pick<
  MessageEvent,
  "text" | "conversation" | "addressed" | "forwarded" | "turn"
> &
  Partial<Pick<MessageEvent, "media">>;

/** In a name of so many letters two may be wrong. */
const LONG = 6;

export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "max"];

/**
 * The order in a message; `undefined` for plain text. In a group only a message addressed to the bot can be an order. A
 * forwarded message never is, because its text is someone else's, nor is text that its sender wants only the model to
 * read.
 */
export function readOrder(event: OrderedMessage, context: ReadingContext): Order | undefined {
  if (event.forwarded !== undefined || event.turn?.verbatim === true) return undefined;
  if (event.conversation.kind !== "direct" && event.addressed === "none") return undefined;
  const order = readText(event.text, context);
  return order === undefined || event.media === undefined || event.media.length === 0
    ? order
    : withFiles(order);
}

/** A file by itself is a message, too: what stands in front of it holds for its turn. */
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

/** Whether an unknown name looks like a misspelled command. Text such as `/etc/hosts` does not. */
function resemblesCommand(name: string): boolean {
  const letters = name.length < LONG ? 1 : 2;
  return Object.keys(COMMANDS).some((known) => distance(name, known) <= letters);
}

/** `/think high /model openai/gpt-5.2 do it`: each with its value, then the message they are for, if any. */
function readDirectives(text: string, first: "model" | "think", context: ReadingContext): Order {
  let choice: Choice = {};
  let rest = text;
  for (;;) {
    const called = slashIn(rest);
    if (called?.name !== "model" && called?.name !== "think") break;
    const [, value = "", after = ""] = /^(\S*)\s*([\s\S]*)$/.exec(called.args) ?? [];
    const chosen = called.name === "model" ? chooseModel(value, context) : chooseLevel(value);
    // Shown, or answered with what exists.
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

/** `/name args` or `/name@bot args`, the name in lower case. */
function slashIn(text: string): { readonly name: string; readonly args: string } | undefined {
  const [, name, args = ""] = /^\/([A-Za-z][\w-]{0,63})(?:@\S+)?(?:\s+([\s\S]*))?$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name: name.toLowerCase(), args: args.trim() };
}

/** Whether a command waits for its turn in the session's queue. */
export function needsTurn(order: Order): boolean {
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
