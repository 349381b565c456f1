import { offeredProtocols, type ServerFrame } from "@signalbox/protocol";
import { chat } from "./chat.ts";
import type { ChatOptions, Connection, ConnectOptions } from "./connection.ts";
import { isClientError } from "./errors.ts";
import { createHttpApi, type HttpApi } from "./http.ts";
import { LiveConnection } from "./live-connection.ts";
import { type KeyStorage, SessionKey } from "./session-key.ts";
import { platformWebSocket, socketUrl, type WebSocketConstructor } from "./socket.ts";

export interface ClientOptions {
  /** Where the gateway is, for instance `http://127.0.0.1:4747`; its path is not used. */
  baseUrl: string | URL;
  /** The gateway's token, for programs. In a browser leave it out: sign in with `login` instead. */
  token?: string;
  /** Default: the platform's. */
  fetch?: typeof fetch;
  /** Default: the platform's. */
  WebSocket?: WebSocketConstructor;
  /** Where the key of a browser's session is kept. Default: `localStorage` in a browser, else memory. */
  storage?: KeyStorage;
  /** How long an HTTP request may take. Default 30 s. */
  timeoutMs?: number;
}

export interface Client extends HttpApi {
  /** Opens a connection that comes back by itself until it is closed. */
  connect(options?: ConnectOptions): Connection;
  /**
   * Sends one message over a connection of its own and yields the frames of the conversation up to the
   * `run.end` that answers it. Throws a ClientError where the gateway cannot be reached or refuses.
   */
  chat(
    agent: string,
    conversation: string,
    text: string,
    options?: ChatOptions & ConnectOptions,
  ): AsyncIterableIterator<ServerFrame, undefined>;
}

/** A client of the gateway at `baseUrl`. Makes no request by itself. Throws where the URL is none. */
export function createClient(options: ClientOptions): Client {
  const { token } = options;
  const base = new URL(options.baseUrl);
  const sessionKey = new SessionKey(options.storage);
  const http = createHttpApi({
    base,
    token,
    sessionKey,
    // Called through a closure, since a browser's fetch refuses any other receiver than the window.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  const connect = (connectOptions: ConnectOptions = {}) =>
    new LiveConnection({
      open: () => {
        const WebSocket = options.WebSocket ?? platformWebSocket();
        if (WebSocket === undefined) throw new TypeError("There is no WebSocket on this platform.");
        const url = socketUrl(base);
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
