import { createHash, randomUUID } from "node:crypto";
import type { Context } from "hono";

/** How long a client that has left may take to come back, in milliseconds. OpenAI's clients wait at most 8 s. */
const RETRY_MS = 10_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** One request of a client, which may be a repetition of one before it. */
export interface Attempt {
  /** Of the message: the same for each repetition. */
  readonly id: string;
  /**
   * The client has left before it had its answer. `stop` is called once it is not to be expected back: at once where
   * the answer had begun, since clients only repeat what they have heard nothing of.
   */
  left(hasBegun: boolean, stop: () => void): void;
}

/** Recognises the requests that are repetitions, so that they make no second turn. */
export interface Retries {
  /** Undefined where the request names a key that is none. */
  attempt(context: Context, prefix: string, body: string): Attempt | undefined;
}

interface Waiting {
  readonly id: string;
  readonly cancel: () => void;
}

/**
 * A request with an `Idempotency-Key` is the same message as every other one with that key: the answer is kept, so the
 * turn goes on when its client leaves. OpenAI's own clients name no key, but say of a repetition that it is one
 * (`x-stainless-retry-count`): it takes up a request of the same body whose client has left without an answer.
 * @param client whose requests they are: others may come upon the same key
 */
export function createRetries(client: string): Retries {
  /** Requests whose clients have left, by what they sent; the one that left first is the first. */
  const abandoned = new Map<string, Waiting[]>();

  const abandon = (body: string, id: string, stop: () => void): void => {
    const waiting: Waiting = {
      id,
      cancel: afterMs(() => {
        remove(abandoned, body, waiting);
        stop();
      }, RETRY_MS),
    };
    abandoned.set(body, [...(abandoned.get(body) ?? []), waiting]);
  };
  const takeUp = (body: string): Waiting | undefined => {
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
        if (!KEY.test(key)) return undefined;
        return { id: prefix + digest(`${client} ${prefix} ${key}`).slice(0, 32), left: () => {} };
      }
      const count = context.req.header("x-stainless-retry-count");
      // A body may be large, and few are ever repeated.
      const sent = (): string => digest(`${prefix} ${body}`);
      const earlier = Number(count) > 0 ? takeUp(sent()) : undefined;
      const id = earlier?.id ?? prefix + randomUUID();
      return {
        id,
        left(hasBegun, stop) {
          if (hasBegun || count === undefined) stop();
          else abandon(sent(), id, stop);
        },
      };
    },
  };
}

function remove(abandoned: Map<string, Waiting[]>, body: string, waiting: Waiting): void {
  const left = (abandoned.get(body) ?? []).filter((one) => one !== waiting);
  if (left.length === 0) abandoned.delete(body);
  else abandoned.set(body, left);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function afterMs(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
