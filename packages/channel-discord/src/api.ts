import type { RawFile, REST } from "@discordjs/rest";
import { type ChannelContext, ChannelError, deadline, isPayload } from "@signalbox/channel";
import type { DiscordConfig } from "./config.ts";
import { toChannelError } from "./errors.ts";
import { limits } from "./limits.ts";
import { loadRest } from "./sdk.ts";

/** One request of the API. */
export interface ApiCall {
  /** For the error, for instance `sending a message`. */
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Behind the version, for instance `/channels/1/messages`. */
  readonly path: `/${string}`;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly files?: readonly RawFile[];
  /** The path holds a token of its own. Default: the bot's token goes along. */
  readonly ownToken?: boolean;
  readonly signal: AbortSignal;
}

/** Discord's API over discord.js's client, which is loaded at the first call. */
export interface DiscordApi {
  /** @throws ChannelError for every answer but a success */
  call(call: ApiCall): Promise<unknown>;
  /** For the gateway's client, which asks where to connect. */
  rest(): REST;
  /** Lets go of what the client keeps. */
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
      // Waiting and trying again are the host's.
      retries: 0,
      rejectOnRateLimit: () => true,
      offset: 0,
      // Each call has a limit of its own, which holds for the body of the answer too.
      timeout: limits.uploadTimeoutMs,
      makeRequest: (url, init) => request(context.fetch, url, init),
    });
  }

  function client(): REST {
    rest ??= open();
    // It forgets a token that was refused once.
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
        throw new ChannelError("transient", `Discord: ${what}: given up before it was tried`);
      // Too many refused requests shut out everybody who shares our address.
      if (!ownToken && refusedAt !== undefined && clock.now() - refusedAt < limits.refusedMs)
        throw new ChannelError("auth", `Discord: ${what}: the token was refused`, { scope: "account" });
      const limit = deadline(files === undefined ? limits.requestTimeoutMs : limits.uploadTimeoutMs, signal);
      const isWrite = method !== "GET";
      try {
        const { RequestMethod } = loadRest();
        const answer = await client().request({
          method: methodOf(RequestMethod, method),
          fullRoute: path,
          signal: limit.signal,
          auth: !ownToken,
          ...(query === undefined ? {} : { query: new URLSearchParams(query) }),
          ...(body === undefined ? {} : { body }),
          ...(files === undefined ? {} : { files: [...files] }),
        });
        if (!ownToken) refusedAt = undefined;
        return answer;
      } catch (thrown) {
        const error = toChannelError(thrown, { what, isWrite });
        if (error.code !== "auth") throw error;
        // A token of its own has ended; the bot's may be as good as ever.
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

function methodOf(methods: Methods, method: ApiCall["method"]): Methods[keyof Methods] {
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

/** The client's request over the host's `fetch`. */
async function request(fetch: typeof globalThis.fetch, url: string, init: Init): Promise<Response> {
  const { method, body, headers, signal } = init;
  const isSendable = typeof body === "string" || body instanceof FormData;
  return await fetch(url, {
    ...(method === undefined ? {} : { method }),
    ...(isSendable ? { body } : {}),
    headers: Object.entries(isPayload(headers) ? headers : {}).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]),
    ...(signal === undefined ? {} : { signal }),
  });
}
