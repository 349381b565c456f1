/** Records the last request that got no usable response, for messages about a platform that cannot be reached. */
export interface ReachabilityRecorder {
  readonly fetch: typeof globalThis.fetch;
  /** Returns the host and the cause of the last failure, such as `api.telegram.org: the name cannot be resolved`. */
  describe(): string | undefined;
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name cannot be resolved",
  EAI_AGAIN: "the name cannot be resolved",
  ECONNREFUSED: "the connection is refused",
  ECONNRESET: "the connection was closed",
  UND_ERR_SOCKET: "the connection was closed",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  ETIMEDOUT: "no response in time",
  UND_ERR_CONNECT_TIMEOUT: "no response in time",
  UND_ERR_HEADERS_TIMEOUT: "no response in time",
  TimeoutError: "no response in time",
  AbortError: "no response in time",
};

/** Wraps a `fetch`. A response with status 5xx counts as a failure. */
export function recordReachability(fetch: typeof globalThis.fetch): ReachabilityRecorder {
  let failure: string | undefined;
  return {
    describe: () => failure,
    async fetch(input, init) {
      const { host } = new URL(input instanceof Request ? input.url : input);
      try {
        const response = await fetch(input, init);
        failure = response.status >= 500 ? `${host}: HTTP ${response.status}` : undefined;
        return response;
      } catch (error) {
        failure = `${host}: ${describeCause(error)}`;
        throw error;
      }
    },
  };
}

/** Describes a failed request by its code, because messages can contain the URL with a token. */
function describeCause(error: unknown): string {
  const codes = getChain(error).flatMap((one) => [
    ...("code" in one && typeof one.code === "string" ? [one.code] : []),
    one.name,
  ]);
  const known = codes.find((code) => CAUSES[code] !== undefined);
  if (known !== undefined)
    return /^[A-Z_]+$/.test(known) ? `${CAUSES[known]} (${known})` : `${CAUSES[known]}`;
  const code = codes.find((one) => /^[A-Z][A-Z0-9_]+$/.test(one));
  return code === undefined ? "no connection" : `no connection (${code})`;
}

/** Returns an error with its causes, and the first of several errors, for instance one for each address of a host. */
function getChain(error: unknown): readonly Error[] {
  if (!(error instanceof Error)) return [];
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return [error, ...getChain(inner)];
}
