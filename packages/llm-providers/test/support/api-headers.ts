import type { IncomingHttpHeaders } from "node:http";

/** What belongs to the connection, or the runtime's own client, not to the API. */
const CONNECTION = ["connection", "content-length", "accept-encoding", "accept-language", "sec-fetch-mode"];

/** What a request says to the API, beside what its connection needs. */
export function apiHeaders(headers: IncomingHttpHeaders | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers ?? {}).filter(([name]) => !CONNECTION.includes(name)));
}
