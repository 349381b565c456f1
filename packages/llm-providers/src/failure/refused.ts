import type { FetchLike } from "../provider/provider.ts";
import { stated } from "../shared/json.ts";
import { causesOf, type FailureFacts, retryAfterMs, sayingOfPage } from "./failure.ts";

/** An answer that was no success, read whole. An SDK passes it on as the cause of what it throws. */
export class RefusedError extends Error {
  readonly response: Response;
  readonly body: string;

  constructor(response: Response, body: string) {
    super("The server refused the request.");
    this.name = "RefusedError";
    this.response = response;
    this.body = body;
  }
}

/** A `fetch` that answers with successes only: of a refusal each SDK makes something else, and keeps less. */
export function successesOf(send: FetchLike): FetchLike {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    throw new RefusedError(response, await response.text());
  };
}

export function refusedBy(error: unknown): RefusedError | undefined {
  for (const cause of causesOf(error)) if (cause instanceof RefusedError) return cause;
  return undefined;
}

/** How much is quoted of a body that is no JSON. */
const QUOTED = 500;

/** What is known of a refusal whatever its body's fields mean, at a time in milliseconds since the epoch. */
export function factsOf({ response: { status, headers }, body }: RefusedError, now: number): FailureFacts {
  const said = (sayingOfPage(body) ?? body).slice(0, QUOTED).trim() || "without a word";
  const onwards = headers.get("location");
  const where = onwards === null ? "" : ` (the server sends requests on to ${onwards})`;
  const message = `${said.startsWith(String(status)) ? said : `${status} ${said}`}${where}`;
  return { message, status, ...stated({ retryAfterMs: retryAfterMs(headers, now) }) };
}
