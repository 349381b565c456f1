import type { ChannelLogger, ReadBody } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import type { EmitResult } from "../contract/events.ts";
import { readLimited } from "../host/read-limited.ts";

/** The result of `emit`, or the reason why an event was not emitted. */
export type HandleResult = EmitResult | "ignored" | "malformed";

/** The result of verifying a request. */
export type VerifyResult<Event> =
  | { readonly kind: "event"; readonly event: Event }
  /** A request that is answered directly, for instance a challenge. */
  | { readonly kind: "answer"; readonly body: unknown }
  /** The request is not authenticated: 401. The reason is only logged. */
  | { readonly kind: "forged"; readonly reason: string }
  /** The request is authenticated but invalid: 400. */
  | { readonly kind: "malformed"; readonly reason: string };

export interface WebhookOptions<Event> {
  /** The size limit of a body. */
  readonly maxBytes: number;
  /** Checks the signature and age of the unchanged body, then parses it. */
  verify(body: Uint8Array, headers: Headers): VerifyResult<Event>;
  /** Emits an event. Resolves when it is stored. */
  handle(event: Event): Promise<HandleResult>;
  /**
   * Answers the platform's challenge, a GET request: returns the text of the response, or `undefined` to reject it with
   * 403. Compare the token in it with `equalInConstantTime`. Default: GET requests are rejected with 405.
   */
  challenge?(url: URL): string | undefined;
  /** Creates the response for an accepted event. Default: 200 with an empty object. */
  accepted?(event: Event): Response;
  readonly logger: ChannelLogger;
}

/** When the platform should redeliver a rejected event. */
const RETRY_AFTER_SECONDS = "15";

/**
 * Creates the `webhook` method of a channel. It limits the body, verifies it before parsing, and acknowledges an event
 * only after it was accepted. Status codes: 200 accepted or duplicate, 400 malformed, 401 not authenticated, 403 wrong
 * challenge, 405 wrong method, 413 too large, 500 and 503 if the platform should redeliver the event.
 *
 * @example
 * ```ts
 * const webhook = createWebhook({ maxBytes: 1_048_576, verify, handle: (event) => emit(event), logger });
 * ```
 */
export function createWebhook<Event>(
  options: WebhookOptions<Event>,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { maxBytes, logger } = options;

  return async function respond(request, read) {
    if (request.method === "GET" && options.challenge !== undefined)
      return answerChallenge(options.challenge(new URL(request.url)));
    if (request.method !== "POST") return reply(405, { error: "method not allowed" }, { allow: "POST" });
    const body = await readBody(request, read, maxBytes);
    if (body === undefined) return reply(413, { error: `body over ${maxBytes} bytes` });
    const verified = options.verify(body, request.headers);
    switch (verified.kind) {
      case "forged":
        // Logged at debug level, because anyone could fill the log with such requests.
        logger.debug("rejected an unauthenticated request", { reason: verified.reason });
        // The same response for every reason, to give an attacker no hint.
        return reply(401, { error: "unauthorized" });
      case "malformed":
        return reply(400, { error: verified.reason });
      case "answer":
        return reply(200, verified.body);
      case "event":
        return handle(verified.event);
    }
  };

  async function handle(event: Event): Promise<Response> {
    let handled: HandleResult;
    try {
      handled = await options.handle(event);
    } catch (error) {
      logger.error("failed to store an event; the platform will redeliver it", {
        reason: reasonOf(error),
      });
      return reply(500, { error: "the event could not be stored" });
    }
    if (handled === "rejected")
      return reply(503, { error: "not now" }, { "retry-after": RETRY_AFTER_SECONDS });
    if (handled !== "malformed") return options.accepted?.(event) ?? reply(200, {});
    logger.warn("rejected a malformed event");
    return reply(400, { error: "the event cannot be read" });
  }
}

/** The response of an account that does not receive its events by webhook. */
export function rejectWebhook(): Response {
  return reply(404, { error: "this account does not use webhooks" });
}

/** Returns true if a signed time is close to ours. Both in milliseconds since the epoch. `NaN` is never recent. */
export function isRecent(signedAt: number, now: number, toleranceMs: number): boolean {
  return Math.abs(now - signedAt) <= toleranceMs;
}

/** Reads the body of a request. Returns `undefined` if it is longer than `maxBytes`. */
export async function readBody(
  request: Request,
  read: ReadBody | undefined,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length")) > maxBytes) return undefined;
  if (read !== undefined) {
    const body = await read();
    return body.byteLength > maxBytes ? undefined : body;
  }
  return readLimited(request.body, maxBytes);
}

/** The type is plain text: a browser must not run a script that a forged challenge contains. */
function answerChallenge(text: string | undefined): Response {
  if (text === undefined) return reply(403, { error: "forbidden" });
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(text, { headers });
}

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}
