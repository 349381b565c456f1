export type { Actions } from "./definitions/command.ts";
export { exitCodeOf } from "./exit-codes.ts";
export type {
  AgentsOfHome,
  ConfiguredHome,
  GatewayHost,
  MemoriesOfHome,
  MessagesWanted,
  PreparedGateway,
  ScheduleInfo,
  SkillsOfAgent,
  StartedGateway,
  StartOptions,
  UseAnswer,
  UseAsked,
} from "./host.ts";
export { createProgram, runProgram } from "./program.ts";
