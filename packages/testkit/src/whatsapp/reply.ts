import type { ServerResponse } from "node:http";

/** A response of the Graph API. */
export interface GraphReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent instead of `body`. */
  readonly bytes?: Uint8Array;
}

/** The error codes that the fake server uses. Source: "WhatsApp error codes" in Meta's documentation. */
export type GraphErrorCode =
  | 1
  | 10
  | 33
  | 100
  | 190
  | 130429
  | 131000
  | 131008
  | 131009
  | 131016
  | 131021
  | 131026
  | 131030
  | 131045
  | 131047
  | 131051
  | 131053
  | 131056;

const ERRORS: Readonly<Record<GraphErrorCode, readonly [status: number, title: string]>> = {
  1: [400, "API Unknown"],
  10: [403, "Permission Denied"],
  33: [400, "Parameter value is not valid"],
  100: [400, "Invalid parameter"],
  190: [401, "Access token has expired"],
  130429: [429, "Rate limit hit"],
  131000: [500, "Something went wrong"],
  131008: [400, "Required parameter is missing"],
  131009: [400, "Parameter value is not valid"],
  131016: [503, "Service unavailable"],
  131021: [400, "Recipient cannot be sender"],
  131026: [400, "Message undeliverable"],
  131030: [400, "Recipient phone number not in allowed list"],
  131045: [403, "Incorrect certificate"],
  131047: [400, "Re-engagement message"],
  131051: [400, "Unsupported message type"],
  131053: [400, "Media upload error"],
  131056: [429, "(Business Account, Consumer Account) pair rate limit hit"],
};

/** Returns an error in the format of the Graph API. */
export function refuse(code: GraphErrorCode, details: string, headers?: Record<string, string>): GraphReply {
  const [status, title] = ERRORS[code];
  const error = {
    message: `(#${code}) ${title}`,
    type: "OAuthException",
    code,
    error_data: { messaging_product: "whatsapp", details },
    fbtrace_id: "Az8or2yhqkZfEZ-_4Qn_Bam",
  };
  return { status, body: { error }, headers: headers || undefined };
}

/** Returns an error in the format of a status webhook. */
export function statusError(code: GraphErrorCode, details: string): Readonly<Record<string, unknown>> {
  const [, title] = ERRORS[code];
  return { code, title, message: title, error_data: { details } };
}

export function write(response: ServerResponse, { status, headers, body, bytes }: GraphReply): void {
  response.writeHead(status, { "content-type": "application/json; charset=UTF-8", ...headers });
  response.end(bytes ?? (typeof body === "string" ? body : JSON.stringify(body)));
}
