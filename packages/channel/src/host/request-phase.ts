import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";

/** Code of the error for a request that failed before any data was written to the connection. */
export const REQUEST_NOT_SENT = "REQUEST_NOT_SENT";

interface Phase {
  isCreated: boolean;
  isSent: boolean;
}

const current = new AsyncLocalStorage<Phase>();
const phases = new WeakMap<object, Phase>();
let isSubscribed = false;

/** Source: "Diagnostics Channel Support" of undici, which implements the `fetch` of Node.js. */
function subscribeOnce(): void {
  if (isSubscribed) return;
  isSubscribed = true;
  subscribe("undici:request:create", (message) => {
    const phase = current.getStore();
    const request = getRequest(message);
    if (phase === undefined || request === undefined) return;
    phase.isCreated = true;
    phases.set(request, phase);
  });
  subscribe("undici:client:sendHeaders", (message) => {
    const request = getRequest(message);
    const phase = request && phases.get(request);
    if (phase !== undefined) phase.isSent = true;
  });
}

function getRequest(message: unknown): object | undefined {
  if (typeof message !== "object" || message === null || !("request" in message)) return undefined;
  return typeof message.request === "object" && message.request !== null ? message.request : undefined;
}

/**
 * Returns a `fetch` whose errors identify requests that were certainly not sent: the name could not be resolved, no
 * connection or TLS session was established, or the time limit passed before a connection was free. Those errors have
 * the code `REQUEST_NOT_SENT`, which {@link failedToConnect} recognizes. Other errors are passed on unchanged.
 */
export function trackRequests(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  subscribeOnce();
  return async (input, init) => {
    const phase: Phase = { isCreated: false, isSent: false };
    try {
      return await current.run(phase, () => fetch(input, init));
    } catch (error) {
      // Other implementations of `fetch` do not publish these phases.
      if (!phase.isCreated || phase.isSent) throw error;
      throw Object.assign(new Error("the request was not sent", { cause: error }), {
        code: REQUEST_NOT_SENT,
      });
    }
  };
}

const NOT_PERMITTED =
  "no requests are sent at present: the database cannot be reached, or another gateway has taken over";

/**
 * Returns a `fetch` that sends a request only if `mayRequest` returns or resolves to true. Otherwise the request fails
 * with the code `REQUEST_NOT_SENT`.
 */
export function permitRequests(
  fetch: typeof globalThis.fetch,
  mayRequest: () => boolean | Promise<boolean>,
): typeof globalThis.fetch {
  return async (input, init) => {
    if (await mayRequest()) return fetch(input, init);
    throw Object.assign(new Error(NOT_PERMITTED), { code: REQUEST_NOT_SENT });
  };
}
