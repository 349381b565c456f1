import { runProgram } from "./cli/program.ts";
import { gatewayHost } from "./gateway-host.ts";
import type { Tuning } from "./prepare.ts";

/** The command line with this gateway behind it. */
export function runSignalbox(argv: readonly string[], tuning: Tuning = {}): Promise<void> {
  return runProgram(argv, gatewayHost(tuning));
}
