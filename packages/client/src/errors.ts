import { ErrorBody, type ErrorCode, type Problem } from "@signalbox/protocol";

const MARK = Symbol.for("signalbox.client.error");

export const UNREACHABLE_REMEDY = "Check that the gateway is running and that the URL is correct.";

/** An error from the gateway or of the connection to it. Use {@link isClientError} to recognize it. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  /** An {@link ErrorCode}, or an unknown code from a newer gateway. */
  readonly code: string;
  /** Advice for the user. */
  readonly remedy: string | undefined;
  /** For the code `invalid`: the errors of the configuration. Otherwise empty. */
  readonly details: NonNullable<Problem["details"]>;
  /** HTTP status, if the error came in an HTTP response. */
  readonly status: number | undefined;

  constructor(problem: Problem & { code: ErrorCode | (string & {}) }, status?: number, cause?: unknown) {
    super(problem.message, cause === undefined ? undefined : { cause });
    this.code = problem.code;
    this.remedy = problem.remedy;
    this.details = problem.details ?? [];
    this.status = status;
    Object.defineProperty(this, MARK, { value: true });
  }
}

/** Returns true for a {@link ClientError}, including one from another installed copy of this package. */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === "object" && value !== null && MARK in value;
}

/** Converts an error response. Derives the code from the status if the body does not come from the gateway. */
export function createResponseError(status: number, body: unknown): ClientError {
  const described = ErrorBody.safeParse(body);
  if (described.success) return new ClientError(described.data.error, status);
  const code = BY_STATUS[status] ?? (status >= 500 ? "internal" : "protocol");
  return new ClientError({ code, message: `The gateway responded with status ${status}.` }, status);
}

const BY_STATUS: Record<number, ErrorCode> = {
  400: "bad_request",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "busy",
  413: "too_large",
  429: "throttled",
};
