import { CodedError } from "@signalbox/agent-core";

/** Why a gateway cannot be used as it is, or a command cannot do what it is asked to. */
export type GatewayErrorCode =
  /** None of the others. */
  | "failure"
  /** What was asked for cannot be understood. */
  | "usage"
  /** The database was made by a newer version. */
  | "newer_database"
  /** The port is taken, or the gateway cannot be reached. */
  | "unavailable"
  /** A folder or file cannot be made or written. */
  | "cannot_write"
  /** Another gateway holds the home. */
  | "held"
  /** The configuration is wrong. */
  | "config";

/** Something an operator must mend; the message says what is wrong and what to do. */
export class GatewayError extends CodedError<GatewayErrorCode> {
  override readonly name = "GatewayError";
}
