import type { IncomingHttpHeaders } from "node:http";

/** Headers of the connection or the HTTP client. */
const CONNECTION = ["connection", "content-length", "accept-encoding", "accept-language", "sec-fetch-mode"];

/** Returns the headers that belong to the API. */
export function apiHeaders(headers: IncomingHttpHeaders | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !CONNECTION.includes(name)));
}
