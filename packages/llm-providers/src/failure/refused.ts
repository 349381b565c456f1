import type { FetchLike } from "../provider/provider.ts";
import { parseRaw, type Raw, stated } from "../shared/json.ts";
import { classifyException, type Failure, type FailureFacts, retryAfterMs, sayingOfPage } from "./failure.ts";

/** An answer that was no success, read whole. An SDK passes it on as the cause of what it throws. */
export class RefusedError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;

  constructor(status: number, headers: Headers, body: string) {
    super("The server refused the request.");
    this.name = "RefusedError";
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * A `fetch` that answers with successes only: each SDK makes something else of a refusal, and leaves out some of it.
 */
export function successesOf(send: FetchLike): FetchLike {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    throw new RefusedError(response.status, response.headers, await response.text());
  };
}

/** The refusal that an exception came from. */
export function refusedBy(error: unknown): RefusedError | undefined {
  let at: unknown = error;
  for (let depth = 0; depth < 6 && at instanceof Error; depth++, at = at.cause)
    if (at instanceof RefusedError) return at;
  return undefined;
}

/** What an exception means, at a time in milliseconds since the epoch. */
export type ErrorClassifier = (error: unknown, now: number) => Failure;

/** How much is quoted of a body that is no JSON. */
const QUOTED = 500;

/**
 * Classifies what an SDK threw: a refusal by what its body says, anything else as an exception.
 *
 * @param read says what the body of a refusal means; `facts` has what is known without it.
 */
export function refusalClassifier(read: (body: Raw, facts: FailureFacts) => Failure): ErrorClassifier {
  return (error, now) => {
    const refused = refusedBy(error);
    if (refused === undefined) return classifyException(error);
    const { status, headers, body } = refused;
    const said = (sayingOfPage(body) ?? body).slice(0, QUOTED).trim() || "without a word";
    const onwards = headers.get("location");
    const where = onwards === null ? "" : ` (the server sends requests on to ${onwards})`;
    const message = `${said.startsWith(String(status)) ? said : `${status} ${said}`}${where}`;
    return read(parseRaw(body) ?? {}, {
      message,
      status,
      ...stated({ retryAfterMs: retryAfterMs(headers, now) }),
    });
  };
}
