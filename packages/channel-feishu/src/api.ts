import type { Cache, Client } from "@larksuiteoapi/node-sdk";
import { type ChannelContext, type Clock, createMemoryCache, toJson } from "@signalbox/channel";
import { apiBase, type FeishuConfig } from "./config.ts";
import { staleToken, toChannelError } from "./errors.ts";
import { callSignal, createHttp, FeishuHttpError } from "./http.ts";
import { loadSdk, silent } from "./sdk.ts";

interface CallOptions {
  /** For the error, for instance `sending a message`. */
  readonly what: string;
  /** It changes something at the platform. */
  readonly write: boolean;
  readonly signal: AbortSignal;
}

/** The vendor's SDK, loaded at the first call. */
export interface FeishuApi {
  /**
   * @throws ChannelError for every answer but a success
   */
  call<T>(options: CallOptions, run: (client: Client) => Promise<T>): Promise<T>;
}

/** The channel's memory in the shape of the SDK's cache, where a tenant token lives two hours. */
function tokenCache(clock: Clock): Cache {
  const cache = createMemoryCache({ clock });
  return {
    get: (key) => cache.get(key.toString()),
    set: async (key, value, expires = Number.POSITIVE_INFINITY) => {
      await cache.set(key.toString(), toJson(value) ?? null, expires - clock.now());
      return true;
    },
  };
}

export function createApi(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "fetch" | "clock">,
): FeishuApi {
  const { config, clock } = context;
  let client: Client | undefined;

  function open(): Client {
    const lark = loadSdk();
    return new lark.Client({
      appId: config.appId,
      appSecret: config.appSecret,
      domain: apiBase(config),
      httpInstance: createHttp(context.fetch),
      cache: tokenCache(clock),
      logger: silent,
      source: "signalbox",
    });
  }

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
            client ??= open();
            return await run(client);
          } catch (error) {
            if (!(error instanceof FeishuHttpError) || !staleToken.includes(error.code ?? 0)) throw error;
            // Another client has no token yet, and asks for one.
            client = open();
            return await run(client);
          }
        });
      } catch (error) {
        throw toChannelError(error, what, write);
      }
    },
  };
}
