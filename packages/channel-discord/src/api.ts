import type { RawFile, REST } from "@discordjs/rest";
import { type ChannelContext, ChannelError, deadline, isPayload, limitResponse } from "@signalbox/channel";
import type { DiscordConfig } from "./config.ts";
import { toChannelError } from "./errors.ts";
import { limits } from "./limits.ts";
import { loadRest } from "./sdk.ts";

/** One API request. */
export interface ApiCall {
  /** Describes the call in error messages, for instance `sending a message`. */
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path after the version, for instance `/channels/1/messages`. */
  readonly path: `/${string}`;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly files?: readonly RawFile[];
  /** True if the path contains its own token, so that the bot's token is not sent. Default: false. */
  readonly ownToken?: boolean;
  readonly signal: AbortSignal;
}

/** Discord's API through discord.js's REST client, which is loaded on the first call. */
export interface DiscordApi {
  /** @throws ChannelError for every response other than success */
  call(call: ApiCall): Promise<unknown>;
  /** The client itself. discord.js's gateway client needs it. */
  rest(): REST;
  /** Stops the client's timers. */
  stop(): void;
}

export function createApi(
  context: Pick<ChannelContext<DiscordConfig>, "config" | "fetch" | "clock">,
): DiscordApi {
  const { config, clock } = context;
  let rest: REST | undefined;
  let refusedAt: number | undefined;

  function open(): REST {
    const { REST } = loadRest();
    return new REST({
      version: "10",
      api: `${config.apiBaseUrl}/api`,
      // The host handles delays and retries.
      retries: 0,
      rejectOnRateLimit: () => true,
      offset: 0,
      // Each call has its own time limit, which also covers the response body.
      timeout: limits.uploadTimeoutMs,
      makeRequest: (url, init) => request(context.fetch, url, init),
    });
  }

  function client(): REST {
    rest ??= open();
    // The client drops its token after a 401.
    return rest.setToken(config.token);
  }

  return {
    rest: client,
    stop() {
      rest?.clearHandlerSweeper();
      rest?.clearHashSweeper();
    },
    async call({ what, signal, method, path, query, body, files, ownToken = false }) {
      if (signal.aborted)
        throw new ChannelError("transient", `Discord: ${what}: aborted before the request was sent`);
      // Too many invalid requests would block everyone who shares our IP address.
      if (!ownToken && refusedAt !== undefined && clock.now() - refusedAt < limits.refusedMs)
        throw new ChannelError("auth", `Discord: ${what}: the token was rejected`, {
          scope: "account",
          settings: ["token"],
        });
      const limit = deadline(files === undefined ? limits.requestTimeoutMs : limits.uploadTimeoutMs, signal);
      const isWrite = method !== "GET";
      try {
        const { RequestMethod } = loadRest();
        const answer = await client().request({
          method: toRequestMethod(RequestMethod, method),
          fullRoute: path,
          signal: limit.signal,
          auth: !ownToken,
          query: query === undefined ? undefined : new URLSearchParams(query),
          body,
          files: files === undefined ? undefined : [...files],
        });
        if (!ownToken) refusedAt = undefined;
        return answer;
      } catch (thrown) {
        const error = toChannelError(thrown, { what, isWrite });
        if (error.code !== "auth") throw error;
        // An interaction token has expired. The bot's token may still be valid.
        if (ownToken) throw new ChannelError("not_found", error.message, { cause: error });
        refusedAt = clock.now();
        throw error;
      } finally {
        limit.end();
      }
    },
  };
}

type Methods = ReturnType<typeof loadRest>["RequestMethod"];

function toRequestMethod(methods: Methods, method: ApiCall["method"]): Methods[keyof Methods] {
  switch (method) {
    case "GET":
      return methods.Get;
    case "POST":
      return methods.Post;
    case "PUT":
      return methods.Put;
    case "PATCH":
      return methods.Patch;
    case "DELETE":
      return methods.Delete;
  }
}

type Init = Parameters<REST["options"]["makeRequest"]>[1];

/** Adapts the client's requests to the host's `fetch`. */
async function request(fetch: typeof globalThis.fetch, url: string, init: Init): Promise<Response> {
  const { method, body, headers, signal } = init;
  const isSendable = typeof body === "string" || body instanceof FormData;
  const response = await fetch(url, {
    method,
    body: isSendable ? body : undefined,
    headers: Object.entries(isPayload(headers) ? headers : {}).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    signal,
  });
  return limitResponse(response);
}
