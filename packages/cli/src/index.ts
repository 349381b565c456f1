export { readRecords } from "./commands/replay-records.ts";
export type { Actions } from "./definitions/command.ts";
export { exitCodeOf } from "./exit-codes.ts";
export type {
  ConfiguredHome,
  GatewayHost,
  Logging,
  PreparedGateway,
  StartedGateway,
  StartOptions,
} from "./host.ts";
export { createProgram, runProgram } from "./program.ts";
