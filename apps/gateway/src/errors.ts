/** Exit codes of the command line, after sysexits.h where it has a fitting one. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** The command was not understood. */
  usage: 64,
  /** The database was made by a newer version. */
  newerDatabase: 65,
  /** The port is taken, or the gateway cannot be reached. */
  unavailable: 69,
  /** A folder or file cannot be made or written. */
  cannotWrite: 73,
  /** Another gateway holds the home. */
  held: 75,
  /** The configuration is wrong. */
  config: 78,
} as const;

/** Something an operator must mend; the message says what is wrong and what to do. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly exitCode: number;

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
