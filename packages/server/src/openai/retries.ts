import { createHash, randomUUID } from "node:crypto";
import type { Context } from "hono";

/** Wait for the retry of a disconnected client, in milliseconds. OpenAI's clients back off for up to 8 s. */
const RETRY_MS = 10_000;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** A request that may be a retry of an earlier one. */
export interface Attempt {
  /** Message id. All retries of a request share it. */
  readonly id: string;
  /**
   * Reports that the client disconnected before it had the answer.
   *
   * @param hasBegun whether the client had received a part of the answer; clients do not retry after that
   * @param stop called when no retry is expected any more
   */
  abandon(hasBegun: boolean, stop: () => void): void;
}

/** Recognizes retries, so that a retried request does not start a second run. */
export interface Retries {
  /** Returns undefined if the request has an invalid `Idempotency-Key`. */
  attempt(context: Context, prefix: string, body: string): Attempt | undefined;
}

interface AbandonedRequest {
  readonly id: string;
  /** Cancels the timer that would stop the run. */
  readonly cancel: () => void;
}

/**
 * Recognizes retries of one client. All requests with the same `Idempotency-Key` are one message, whose answer is
 * stored, so the run continues if the client disconnects. OpenAI's own clients send no key, but mark a retry with
 * `x-stainless-retry-count`: it continues an abandoned request with the same body.
 *
 * @param client name of the token; keys of different clients are independent
 */
export function createRetries(client: string): Retries {
  /** Requests of disconnected clients by the hash of the body, oldest first. */
  const abandoned = new Map<string, AbandonedRequest[]>();

  const abandon = (body: string, id: string, stop: () => void): void => {
    const request: AbandonedRequest = {
      id,
      cancel: startTimer(() => {
        remove(abandoned, body, request);
        stop();
      }, RETRY_MS),
    };
    abandoned.set(body, [...(abandoned.get(body) ?? []), request]);
  };
  const resume = (body: string): AbandonedRequest | undefined => {
    const [first] = abandoned.get(body) ?? [];
    if (first === undefined) return undefined;
    first.cancel();
    remove(abandoned, body, first);
    return first;
  };

  return {
    attempt(context, prefix, body) {
      const key = context.req.header("idempotency-key");
      if (key !== undefined) {
        if (!IDEMPOTENCY_KEY.test(key)) return undefined;
        return { id: prefix + hash(`${client} ${prefix} ${key}`).slice(0, 32), abandon: () => {} };
      }
      const count = context.req.header("x-stainless-retry-count");
      // Computed on demand, because bodies can be large and retries are rare.
      const hashBody = (): string => hash(`${prefix} ${body}`);
      const earlier = Number(count) > 0 ? resume(hashBody()) : undefined;
      const id = earlier?.id ?? prefix + randomUUID();
      return {
        id,
        abandon(hasBegun, stop) {
          if (hasBegun || count === undefined) stop();
          else abandon(hashBody(), id, stop);
        },
      };
    },
  };
}

function remove(abandoned: Map<string, AbandonedRequest[]>, body: string, request: AbandonedRequest): void {
  const rest = (abandoned.get(body) ?? []).filter((each) => each !== request);
  if (rest.length === 0) abandoned.delete(body);
  else abandoned.set(body, rest);
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function startTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
