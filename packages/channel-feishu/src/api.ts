import type { ChannelContext } from "@signalbox/channel";
import { createClient, type FeishuClient } from "./client.ts";
import type { FeishuConfig } from "./config.ts";
import { staleToken, toChannelError } from "./errors.ts";
import { callSignal, createHttp, FeishuHttpError } from "./http.ts";

interface CallOptions {
  /** Describes the call in error messages, for instance `sending a message`. */
  readonly what: string;
  /** True if the call changes state, so that a missing response leaves its outcome unknown. */
  readonly write: boolean;
  readonly signal: AbortSignal;
}

export interface FeishuApi {
  /** @throws ChannelError for every response other than success */
  call<T>(options: CallOptions, run: (client: FeishuClient) => Promise<T>): Promise<T>;
}

export function createApi({
  config,
  clock,
  fetch,
}: Pick<ChannelContext<FeishuConfig>, "config" | "fetch" | "clock">): FeishuApi {
  const client = createClient(createHttp(fetch, clock.now), config, clock);

  return {
    async call(options, run) {
      const { what, write, signal } = options;
      try {
        if (signal.aborted) {
          const cause: unknown = signal.reason;
          throw new FeishuHttpError("given up before it was tried", { unsent: true, cause });
        }
        return await callSignal.run(signal, async () => {
          try {
            return await run(client);
          } catch (error) {
            if (!(error instanceof FeishuHttpError) || !staleToken.includes(error.code ?? 0)) throw error;
            client.forgetToken();
            return await run(client);
          }
        });
      } catch (error) {
        throw toChannelError(error, what, write);
      }
    },
  };
}
