import type { ChannelLogger, ReadBody } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import type { EmitResult } from "../contract/events.ts";
import { readLimited } from "../host/read-limited.ts";
import type { ForgedRequest, WebhookMonitor } from "./webhook-monitor.ts";

/** The result of `emit`, or the reason why an event was not emitted. */
export type HandleResult = EmitResult | "ignored" | "malformed";

/** The result of verifying a request. */
export type VerifyResult<Event> =
  | { readonly kind: "event"; readonly event: Event }
  /** The request is answered directly, for instance because it is a challenge. */
  | { readonly kind: "answer"; readonly body: unknown }
  /** The request is not authenticated: 401. */
  | ForgedRequest
  /** The request is authenticated but invalid: 400. */
  | { readonly kind: "malformed"; readonly reason: string };

export interface WebhookOptions<Event> {
  /** Maximum size of a body in bytes. */
  readonly maxBytes: number;
  /** Checks the signature and age of the raw body, then parses it. Some platforms put the signature in the URL. */
  verify(body: Uint8Array, headers: Headers, url: URL): VerifyResult<Event>;
  /** Emits an event. Resolves once it is stored. */
  handle(event: Event): Promise<HandleResult>;
  /**
   * Responds to the platform's challenge, which is a GET request. Returns the text of the response, or a forged request
   * or `undefined` to reject it with 403. Compare the token in the request with `equalInConstantTime`. Default: GET
   * requests are rejected with 405.
   */
  challenge?(url: URL): string | ForgedRequest | undefined;
  /** Creates the response for an accepted event. Default: 200 with an empty object. */
  accepted?(event: Event): Response;
  /** Records whether requests are authenticated. Default: nothing is recorded. */
  readonly monitor?: WebhookMonitor;
  readonly logger: ChannelLogger;
}

/** Delay after which the platform should redeliver a rejected event. */
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
  const { maxBytes, logger, monitor } = options;

  return async function respond(request, read) {
    if (request.method === "GET" && options.challenge !== undefined)
      return respondToChallenge(options.challenge(new URL(request.url)), monitor);
    if (request.method !== "POST") return reply(405, { error: "method not allowed" }, { allow: "POST" });
    const body = await readBody(request, read, maxBytes);
    if (body === undefined) return reply(413, { error: `body over ${maxBytes} bytes` });
    const verified = options.verify(body, request.headers, new URL(request.url));
    switch (verified.kind) {
      case "forged":
        // Logged at debug level, because otherwise anyone could flood the log with such requests.
        logger.debug("rejected an unauthenticated request", { reason: verified.reason });
        monitor?.onRefused(verified, "event");
        // The response is the same for every reason, to give attackers no hint.
        return reply(401, { error: "unauthorized" });
      case "malformed":
        return reply(400, { error: verified.reason });
      case "answer":
        return reply(200, verified.body);
      case "event":
        monitor?.onEvent();
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

/** Creates the response of an account that does not receive its events by webhook. */
export function rejectWebhook(): Response {
  return reply(404, { error: "this account does not use webhooks" });
}

/**
 * Returns true if a signed time is close to the current time. Both are in milliseconds since the epoch. `NaN` is never
 * recent.
 */
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

/** The response is plain text, so that a browser does not run a script in a forged challenge. */
function respondToChallenge(
  text: string | ForgedRequest | undefined,
  monitor: WebhookMonitor | undefined,
): Response {
  if (typeof text !== "string") {
    if (text !== undefined) monitor?.onRefused(text, "challenge");
    return reply(403, { error: "forbidden" });
  }
  monitor?.onChallenge();
  const headers = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };
  return new Response(text, { headers });
}

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}
