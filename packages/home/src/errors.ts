import { CodedError } from "@signalbox/agent-core";

/** Codes of {@link GatewayError}. */
export type GatewayErrorCode =
  /** Any other failure. */
  | "failure"
  /** Invalid arguments. */
  | "usage"
  /** A newer version wrote the database. */
  | "newer_database"
  /** The port is in use, or the gateway cannot be reached. */
  | "unavailable"
  /** A folder or file cannot be created or written. */
  | "cannot_write"
  /** Another gateway holds the home. */
  | "held"
  /** The configuration is invalid. */
  | "config";

/** A problem that an operator must fix. The message names the problem and the remedy. */
export class GatewayError extends CodedError<GatewayErrorCode> {
  override readonly name = "GatewayError";
}
