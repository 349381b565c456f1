/** Failures that come before a connection stands. */
const beforeConnection = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
];

/** Whether a request that `fetch` failed with this error certainly never reached the other side. */
export function neverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // The global `fetch` wraps what the connection said; a leaner one may give it as it is.
  const said = "code" in error && typeof error.code === "string" ? error : error.cause;
  return said instanceof Error && "code" in said && beforeConnection.includes(String(said.code));
}
