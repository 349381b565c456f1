import { ErrorBody, type ErrorCode, type Problem } from "@signalbox/protocol";

const MARK = Symbol.for("signalbox.client.error");

/** What went wrong between this client and the gateway. Recognise it with {@link isClientError}. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  /** An {@link ErrorCode}, or a code of a newer gateway. */
  readonly code: string;
  /** What the person can do about it. */
  readonly remedy: string | undefined;
  /** HTTP status, where the error is the answer to a request. */
  readonly status: number | undefined;

  constructor(problem: Problem & { code: ErrorCode | (string & {}) }, status?: number, cause?: unknown) {
    super(problem.message, cause === undefined ? undefined : { cause });
    this.code = problem.code;
    this.remedy = problem.remedy;
    this.status = status;
    Object.defineProperty(this, MARK, { value: true });
  }
}

/** True for a {@link ClientError}, even of another installed copy of this package. */
export function isClientError(value: unknown): value is ClientError {
  return typeof value === "object" && value !== null && MARK in value;
}

/** The error that an HTTP answer describes; its status speaks where the body is not the gateway's. */
export function errorOfAnswer(status: number, body: unknown): ClientError {
  const described = ErrorBody.safeParse(body);
  if (described.success) return new ClientError(described.data.error, status);
  const code = BY_STATUS[status] ?? (status >= 500 ? "internal" : "protocol");
  return new ClientError({ code, message: `The gateway answered with status ${status}.` }, status);
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
