import type { ChannelLogger, ReadBody } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import type { EmitResult } from "../contract/events.ts";

/** The outcome of an event: what `emit` returned, or why it was not emitted. */
export type Handled = EmitResult | "ignored" | "malformed";

/** What verification found. */
export type Verified<Event> =
  | { readonly kind: "event"; readonly event: Event }
  /** Something the platform wants answered at once, for instance a challenge. */
  | { readonly kind: "answer"; readonly body: unknown }
  /** The request does not prove that it comes from the platform: 401. The reason is only for the log. */
  | { readonly kind: "forged"; readonly reason: string }
  /** From the platform, and nothing that it would send: 400. */
  | { readonly kind: "malformed"; readonly reason: string };

export interface WebhookOptions<Event> {
  /** Longest body in bytes. */
  readonly maxBytes: number;
  /** Checks signature and age of the body as it came, byte for byte, and reads it. */
  verify(body: Uint8Array, headers: Headers): Verified<Event>;
  /** Hands an event on. Resolves after the durable insert. */
  handle(event: Event): Promise<Handled>;
  /** The response for an event that was taken. Default: 200 with an empty object. */
  accepted?(event: Event): Response;
  readonly logger: ChannelLogger;
}

/** Where the platform should try again, in seconds. */
const retryAfterSeconds = "15";

/**
 * The `webhook` of a channel: limits the body, verifies it before anything is parsed, and acknowledges an event only
 * once it was accepted. 200 accepted or known, 400 malformed, 401 not the platform's, 405 and 413 as usual, 500 and 503
 * if the platform should deliver again.
 */
export function createWebhook<Event>(
  options: WebhookOptions<Event>,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { maxBytes, logger } = options;

  return async function answer(request, read) {
    if (request.method !== "POST") return reply(405, { error: "method not allowed" }, { allow: "POST" });
    const body = await readBody(request, read, maxBytes);
    if (body === undefined) return reply(413, { error: `body over ${maxBytes} bytes` });
    const verified = options.verify(body, request.headers);
    switch (verified.kind) {
      case "forged":
        // Anybody can send such requests: a line for each would let them fill the log. The host counts the status.
        logger.debug("a request was refused", { reason: verified.reason });
        // The same for every reason, so that it tells a guesser nothing.
        return reply(401, { error: "unauthorized" });
      case "malformed":
        return reply(400, { error: verified.reason });
      case "answer":
        return reply(200, verified.body);
      case "event":
        return settle(verified.event);
    }
  };

  async function settle(event: Event): Promise<Response> {
    let handled: Handled;
    try {
      handled = await options.handle(event);
    } catch (error) {
      logger.error("an event could not be accepted; the platform will redeliver it", {
        reason: reasonOf(error),
      });
      return reply(500, { error: "not taken" });
    }
    if (handled === "rejected") return reply(503, { error: "not now" }, { "retry-after": retryAfterSeconds });
    if (handled !== "malformed") return options.accepted?.(event) ?? reply(200, {});
    logger.warn("an unreadable event was refused");
    return reply(400, { error: "the event cannot be read" });
  }
}

/** The webhook of an account that gets its events in another way. */
export function noWebhooks(): Response {
  return reply(404, { error: "this account takes no webhooks" });
}

/** Whether a signed time is close enough to ours; both in milliseconds since the epoch. No number is never recent. */
export function isRecent(signedAt: number, now: number, toleranceMs: number): boolean {
  return Math.abs(now - signedAt) <= toleranceMs;
}

/** The body as it came; undefined once it is longer than allowed, whatever length it states. */
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
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}
