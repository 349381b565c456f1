import { runProgram } from "./cli/program.ts";
import { gatewayHost } from "./gateway-host.ts";
import type { Tuning } from "./prepare.ts";

/** Runs the command line with this gateway. */
export function runSignalbox(argv: readonly string[], tuning: Tuning = {}): Promise<void> {
  return runProgram(argv, gatewayHost(tuning));
}
