import { GatewayError, type GatewayErrorCode } from "@signalbox/home";

/** Exit codes from sysexits.h, where available. */
const CODES: Readonly<Record<GatewayErrorCode, number>> = {
  failure: 1,
  usage: 64,
  newer_database: 65,
  unavailable: 69,
  cannot_write: 73,
  held: 75,
  config: 78,
};

/** Exit code for an error code. */
export function exitCode(code: GatewayErrorCode): number {
  return CODES[code];
}

/** Exit code for a thrown error. */
export function getExitCode(error: unknown): number {
  return exitCode(error instanceof GatewayError ? error.code : "failure");
}
