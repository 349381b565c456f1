/**
 * - `bad_url`: not an address that can be fetched.
 * - `blocked`: leads somewhere else than to a public host.
 * - `network`: no connection, or it broke off.
 * - `timeout`: took longer than allowed, connecting, waiting and reading together.
 * - `redirects`: too many, or one without a target.
 * - `too_large`: more bytes than allowed, also after decompression.
 * - `encoding`: compressed in a way that is not known, or badly.
 * - `status`: the server answered with an error.
 * - `type`: not something that has text.
 */
export type FetchErrorCode =
  | "bad_url"
  | "blocked"
  | "network"
  | "timeout"
  | "redirects"
  | "too_large"
  | "encoding"
  | "status"
  | "type";

/** Why a page was not fetched. The message is fit for the model: it tells nothing of the network inside. */
export class FetchError extends Error {
  override readonly name = "FetchError";
  readonly code: FetchErrorCode;

  constructor(code: FetchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
