import { describeFailedRequest } from "@signalbox/channel";

/** Records the last request that got no usable response, for messages about a platform that cannot be reached. */
export interface ReachabilityRecorder {
  readonly fetch: typeof globalThis.fetch;
  /** Returns the host and the cause of the last failure, such as `api.telegram.org: the name cannot be resolved`. */
  describe(): string | undefined;
}

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
        failure = `${host}: ${describeFailedRequest(error) ?? "no connection"}`;
        throw error;
      }
    },
  };
}
