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
export { runProgram } from "./program.ts";
