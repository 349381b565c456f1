/**
 * `unreachable`: the provider does not respond. `denied`: the person or the provider declined. `expired`: the sign-in
 * is unknown, was completed already, or was started in another browser. `clock_skew`: the clocks differ. `not_recent`:
 * the provider did not ask for the credentials again. `no_role`: none of the person's groups has a role. `failed`:
 * anything else, such as a wrong signature.
 */
export type OidcErrorCode =
  | "unreachable"
  | "denied"
  | "expired"
  | "clock_skew"
  | "not_recent"
  | "no_role"
  | "failed";

/** A failed sign-in at the OpenID provider. The message contains no tokens. */
export class OidcError extends Error {
  override readonly name = "OidcError";
  readonly code: OidcErrorCode;

  constructor(code: OidcErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Codes of `openid-client` and Node.js for a provider that does not respond. */
const NETWORK = new Set([
  "OAUTH_TIMEOUT",
  "ECONNREFUSED",
  "ENOTFOUND",
  "ECONNRESET",
  "EAI_AGAIN",
  "ETIMEDOUT",
]);
const MAX_MESSAGE_CHARS = 300;

/** Converts an error of `openid-client` or `jose`. Its cause contains tokens and claims and is dropped. */
export function toOidcError(error: unknown): OidcError {
  if (error instanceof OidcError) return error;
  if (!(error instanceof Error)) return new OidcError("failed", "unexpected error");
  const code = getText(error, "code");
  const { cause } = error;
  // The messages of the library's causes name the failed check and contain no values.
  const reason = cause instanceof Error && cause.message !== error.message ? cause.message : undefined;
  const text = [error.message, reason, getText(error, "error"), getText(error, "error_description")]
    .filter((part) => part !== undefined && part !== "")
    .join(": ")
    .slice(0, MAX_MESSAGE_CHARS);
  if (code === "OAUTH_AUTHORIZATION_RESPONSE_ERROR") return new OidcError("denied", text);
  if (/auth_time|last End-User authentication/.test(text)) return new OidcError("not_recent", text);
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return new OidcError("clock_skew", text);
  return new OidcError(isNetworkError(error) ? "unreachable" : "failed", text);
}

function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "TimeoutError" || error.name === "AbortError" || error.message === "fetch failed")
    return true;
  if (NETWORK.has(getText(error, "code") ?? "")) return true;
  const { cause } = error;
  if (cause instanceof Response) return cause.status >= 500;
  return cause !== error && isNetworkError(cause);
}

function getText(error: object, name: string): string | undefined {
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}
