import { offeredProtocols, type ServerFrame } from "@signalbox/protocol";
import { chat } from "./chat.ts";
import type { ChatOptions, Connection, ConnectOptions } from "./connection.ts";
import { isClientError } from "./errors.ts";
import { createHttpApi, type HttpApi } from "./http.ts";
import { LiveConnection } from "./live-connection.ts";
import { type KeyStorage, SessionKey } from "./session-key.ts";
import { getSocketUrl, platformWebSocket, type WebSocketConstructor } from "./socket.ts";

export interface ClientOptions {
  /** URL of the gateway, for instance `http://127.0.0.1:4747`. The path is ignored. */
  baseUrl: string | URL;
  /** Token for programs. Browsers omit it and sign in with `login`. */
  token?: string;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** Default: the global `WebSocket`. */
  WebSocket?: WebSocketConstructor;
  /** Stores the key of a browser session. Default: `localStorage` in browsers, otherwise memory. */
  storage?: KeyStorage;
  /** Timeout of an HTTP request in milliseconds. Default 30,000. */
  timeoutMs?: number;
}

export interface Client extends HttpApi {
  /** Opens a WebSocket that reconnects automatically until it is closed. */
  connect(options?: ConnectOptions): Connection;
  /**
   * Sends one message over a new connection and yields the frames of the conversation until the `run.end` of its run.
   *
   * @throws {ClientError} if the gateway is unreachable or refuses the message
   */
  chat(
    agent: string,
    conversation: string,
    text: string,
    options?: ChatOptions & ConnectOptions,
  ): AsyncIterableIterator<ServerFrame, undefined>;
}

/**
 * Creates a client. It sends no request until a method is called.
 *
 * @throws {TypeError} if `baseUrl` is not a URL
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:4747", token });
 * for await (const frame of client.chat("main", newId(), "Hello"))
 *   if (frame.type === "text.delta") process.stdout.write(frame.delta);
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const { token } = options;
  const base = new URL(options.baseUrl);
  const sessionKey = new SessionKey(options.storage);
  const http = createHttpApi({
    base,
    token,
    sessionKey,
    // Wrapped, because a browser's `fetch` throws if it is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  const connect = (connectOptions: ConnectOptions = {}) =>
    new LiveConnection({
      open: () => {
        const WebSocket = options.WebSocket ?? platformWebSocket();
        if (WebSocket === undefined)
          throw new TypeError("This platform has no WebSocket. Pass one as the option `WebSocket`.");
        const url = getSocketUrl(base);
        if (token !== undefined) return new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
        const key = sessionKey.value;
        return key === undefined ? new WebSocket(url) : new WebSocket(url, offeredProtocols(key));
      },
      authorized: async () => {
        try {
          await http.me();
          return true;
        } catch (error) {
          return !(isClientError(error) && error.code === "unauthorized");
        }
      },
      history: http.history,
      options: connectOptions,
    });
  return {
    ...http,
    connect,
    async *chat(agent, conversation, text, chatOptions = {}) {
      const connection = connect({ retries: 5, ...chatOptions });
      try {
        yield* chat(connection, http.history, { agent, conversation, text }, chatOptions);
      } finally {
        connection.close();
      }
      return undefined;
    },
  };
}
