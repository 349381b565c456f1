import type { Client, Logger } from "@larksuiteoapi/node-sdk";
import type { ChannelContext } from "@signalbox/channel";
import { apiBase, type FeishuConfig } from "./config.ts";
import { staleToken, toChannelError } from "./errors.ts";
import { callSignal, createHttp, FeishuHttpError } from "./http.ts";
import { loadSdk } from "./sdk.ts";

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

/** A tenant token lives two hours, and SDK and cache agree on nothing but key, value and expiry. */
class TokenCache {
  readonly #values = new Map<string | symbol, { value: unknown; expires: number | undefined }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  // biome-ignore lint/complexity/noBannedTypes: the SDK's own type of a key.
  async get(key: string | Symbol): Promise<unknown> {
    const entry = this.#values.get(plainKey(key));
    if (entry === undefined || (entry.expires !== undefined && entry.expires <= this.#now()))
      return undefined;
    return entry.value;
  }

  // biome-ignore lint/complexity/noBannedTypes: the SDK's own type of a key.
  async set(key: string | Symbol, value: unknown, expires?: number): Promise<boolean> {
    this.#values.set(plainKey(key), { value, expires });
    return true;
  }

  clear(): void {
    this.#values.clear();
  }
}

// biome-ignore lint/complexity/noBannedTypes: the SDK's own type of a key.
function plainKey(key: string | Symbol): string {
  return key.toString();
}

/** Keeps the SDK quiet: what matters comes as an error, and its own log lines carry credentials. */
export const quiet: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
};

export function createApi(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "fetch" | "clock">,
): FeishuApi {
  const { config, clock } = context;
  const tokens = new TokenCache(() => clock.now());
  let client: Client | undefined;

  function open(): Client {
    const lark = loadSdk();
    return new lark.Client({
      appId: config.appId,
      appSecret: config.appSecret,
      domain: apiBase(config),
      httpInstance: createHttp(context.fetch),
      cache: tokens,
      logger: quiet,
      loggerLevel: lark.LoggerLevel.fatal,
      source: "signalbox",
    });
  }

  return {
    async call(options, run) {
      const { what, write, signal } = options;
      try {
        signal.throwIfAborted();
      } catch (cause) {
        throw toChannelError(
          new FeishuHttpError("given up before it was tried", { unsent: true, cause }),
          what,
          write,
        );
      }
      try {
        client ??= open();
        const opened = client;
        return await callSignal.run(signal, async () => {
          try {
            return await run(opened);
          } catch (error) {
            if (!(error instanceof FeishuHttpError) || !staleToken.includes(error.code ?? 0)) throw error;
            tokens.clear();
            return await run(opened);
          }
        });
      } catch (error) {
        throw toChannelError(error, what, write);
      }
    },
  };
}

/** An id as one segment of a path: the SDK puts it there as it is. */
export function segment(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}
