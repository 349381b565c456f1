export { argumentsOf } from "./arguments.ts";
export {
  type Choice,
  needsTurn,
  type Order,
  type OrderedMessage,
  type ReadingContext,
  readOrder,
  type SkillCommand,
  type SkillInvocation,
  THINKING_LEVELS,
} from "./read.ts";
export {
  type AtOnceName,
  COMMANDS,
  type CommandName,
  helpText,
  isAtOnce,
  isCommandName,
  listedCommands,
  mayUseCommand,
} from "./table.ts";
export { modelText, skillsText, thinkText } from "./texts.ts";
