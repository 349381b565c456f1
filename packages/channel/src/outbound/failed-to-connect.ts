import { REQUEST_NOT_SENT } from "../host/request-phase.ts";

/** Error codes of failures before a connection was established. */
const CONNECT_ERRORS = [
  REQUEST_NOT_SENT,
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** Returns true if an error of `fetch` proves that the request never reached the server. */
export function failedToConnect(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The global `fetch` wraps the connection error. Other implementations may not.
  const cause = "code" in error && typeof error.code === "string" ? error : error.cause;
  return cause instanceof Error && "code" in cause && CONNECT_ERRORS.includes(String(cause.code));
}
