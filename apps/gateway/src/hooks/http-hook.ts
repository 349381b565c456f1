import { createHmac } from "node:crypto";
import type { UncheckedHook } from "./point-types.ts";

export interface HttpHookOptions {
  readonly point: string;
  readonly name: string;
  /** URL that receives the payload in a POST request. Redirects are not followed. */
  readonly url: string;
  /** Key for signing requests. Default: requests are not signed. */
  readonly secret?: string;
  /** Time limit, see `HookAt`. */
  readonly timeoutMs?: number;
  /** Default: the runtime's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Maximum size of a response, in bytes. */
const MAX_BYTES = 1_000_000;

/**
 * Creates a hook that posts `{ hook, point, payload }` to a URL. The response is the hook's return value as JSON, or
 * 204 if there is none. Any other status and invalid JSON are failures, whose consequence depends on the kind of the
 * point.
 *
 * With a secret, the header `x-signalbox-signature` is `v1=` followed by the hexadecimal HMAC-SHA256 of `x-signalbox-
 * timestamp` (seconds), a period and the body. A receiver should also reject old timestamps.
 */
export function createHttpHook(options: HttpHookOptions): UncheckedHook {
  const { point, name, url, secret, timeoutMs, fetch = globalThis.fetch, now = Date.now } = options;
  return {
    point,
    name,
    timeoutMs,
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
        throw new Error(`it responded with status ${response.status}`);
      }
      if (response.status === 204) return undefined;
      const text = await readText(response);
      // Only 204 means "no change". An empty 200 response could come from any server at that address and must not pass
      // a blocking hook.
      return text.trim() === "" ? null : JSON.parse(text);
    },
  };
}

/** Returns the underlying cause, because the runtime's "fetch failed" contains no reason. */
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

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error("the response is too large");
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
