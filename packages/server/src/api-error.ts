import type { ErrorCode, Problem } from "@signalbox/protocol";

const STATUS = {
  bad_request: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  invalid: 422,
} as const;

/** A reason why the gateway refuses a request of the API. The response has the message, the remedy and the details. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode & keyof typeof STATUS;
  readonly remedy: string | undefined;
  readonly details: Problem["details"];

  constructor(
    code: ApiError["code"],
    message: string,
    { remedy, details }: Pick<Problem, "remedy" | "details"> = {},
  ) {
    super(message);
    this.code = code;
    this.remedy = remedy;
    this.details = details;
  }

  get status(): (typeof STATUS)[keyof typeof STATUS] {
    return STATUS[this.code];
  }
}
