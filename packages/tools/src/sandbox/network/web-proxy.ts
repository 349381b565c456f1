import { lookup } from "node:dns/promises";
import { FetchError } from "../../web/errors.ts";
import { createTargetResolver, parseUrl, type TargetOptions } from "../../web/guarded-target.ts";
import { createResolve } from "../../web/resolve.ts";
import { type EgressProxy, openEgressProxy, RefusedError } from "./proxy.ts";

export interface WebProxyOptions extends TargetOptions {
  /** Maximum number of bytes that one connection may receive. Default: 268,435,456. */
  readonly maxBytes?: number;
}

const MAX_CONNECTION_BYTES = 268_435_456;

/**
 * Resolves names for a browser, one at a time. A hostile page can request any number of slow names, and each lookup
 * occupies one of the four threads that the whole process shares.
 */
const resolveOneAtATime = createResolve(
  async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  1,
);

/**
 * Opens a proxy to every host on the public internet, with the rules of `createGuardedFetch`: no private address, no
 * port of another service. WebSockets and encrypted connections use `CONNECT`, so the same rules apply to them.
 */
export function openWebProxy({
  maxBytes = MAX_CONNECTION_BYTES,
  resolve = resolveOneAtATime,
  ...options
}: WebProxyOptions = {}): Promise<EgressProxy> {
  const resolveTarget = createTargetResolver({ ...options, resolve });
  return openEgressProxy({
    maxBytes,
    async check({ host, port }, signal) {
      try {
        const url = parseUrl(`https://${host.includes(":") ? `[${host}]` : host}:${port}/`);
        return (await resolveTarget(url, signal)).addresses;
      } catch (error) {
        throw error instanceof FetchError && error.code !== "network"
          ? new RefusedError(error.message, { cause: error })
          : error;
      }
    },
  });
}
