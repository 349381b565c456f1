/**
 * `address_in_use`: another program listens on the address. `address_unusable`: the address does not exist on this
 * machine, or the port needs more privileges.
 */
export type ServerErrorCode = "address_in_use" | "address_unusable";

/** The server cannot listen on its address. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
