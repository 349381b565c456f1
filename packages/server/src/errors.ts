/** `address_in_use`: another program listens there. `address_unusable`: no such address, or it needs more rights. */
export type ServerErrorCode = "address_in_use" | "address_unusable";

/** Why the server cannot listen. */
export class ServerError extends Error {
  override readonly name = "ServerError";
  readonly code: ServerErrorCode;

  constructor(code: ServerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
