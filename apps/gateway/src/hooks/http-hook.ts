import { createHmac } from "node:crypto";
import type { UncheckedHook } from "./point-types.ts";

export interface HttpHookOptions {
  readonly point: string;
  readonly name: string;
  /** URL that receives the payload by POST. Redirects are not followed. */
  readonly url: string;
  /** Signs each request, so that the other side knows whose it is. Default: none is signed. */
  readonly secret?: string;
  /** See `HookAt`. */
  readonly timeoutMs?: number;
  /** Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
}

/** Of what may be answered. */
const MAX_BYTES = 1_000_000;

/**
 * A hook behind an HTTP address. It is posted `{ hook, point, payload }`, and answers with the JSON that a hook
 * returns at such a point, or with 204 for nothing. Any other status, and whatever is no JSON, is a failure:
 * what follows from that is the point's to say.
 *
 * Where there is a secret, `x-signalbox-signature` is `v1=` and the HMAC-SHA256, in hexadecimal digits, of
 * `x-signalbox-timestamp` (seconds), a full stop and the body. Whoever checks it refuses an old timestamp as well.
 */
export function createHttpHook(options: HttpHookOptions): UncheckedHook {
  const { point, name, url, secret, timeoutMs, fetch = globalThis.fetch, now = Date.now } = options;
  return {
    point,
    name,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    async run(payload, signal) {
      const body = JSON.stringify({ hook: name, point, payload });
      const response = await fetch(url, {
        method: "POST",
        redirect: "error",
        headers: { "content-type": "application/json", ...signature(body, secret, now()) },
        body,
        signal,
      }).catch((error: unknown) => {
        throw new Error(`it cannot be reached: ${reasonBehind(error)}`, { cause: error });
      });
      if (!response.ok) {
        await response.body?.cancel();
        throw new Error(`it answered with status ${response.status}`);
      }
      if (response.status === 204) return undefined;
      const text = await textOf(response);
      // Not what 204 says: whatever else answers at the address of a gate must not open it.
      return text.trim() === "" ? null : JSON.parse(text);
    },
  };
}

/** The underlying cause: the runtime's "fetch failed" contains no reason. */
function reasonBehind(error: unknown): string {
  if (error instanceof AggregateError) return reasonBehind(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : reasonBehind(error.cause);
}

function signature(body: string, secret: string | undefined, now: number): Readonly<Record<string, string>> {
  if (secret === undefined) return {};
  const timestamp = String(Math.floor(now / 1_000));
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { "x-signalbox-timestamp": timestamp, "x-signalbox-signature": `v1=${digest}` };
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error("its answer is too long");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
