/** The subset of a WebSocket that the client uses. Browsers, Node.js and the package `ws` provide it. */
export interface WebSocketLike {
  send(data: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

/**
 * The WebSocket of Node.js and of `ws` accepts headers as the second argument. In browsers the client passes
 * subprotocols instead, one of which carries the session key.
 */
export interface WebSocketConstructor {
  new (url: string, init?: { headers: Record<string, string> }): WebSocketLike;
  new (url: string, protocols: string[]): WebSocketLike;
}

/** Returns the global `WebSocket`, whose type differs between browsers and Node.js. */
export function platformWebSocket(): WebSocketConstructor | undefined {
  const socketClass: unknown = Reflect.get(globalThis, "WebSocket");
  return isConstructor(socketClass) ? socketClass : undefined;
}

function isConstructor(value: unknown): value is WebSocketConstructor {
  return typeof value === "function";
}

/** Returns the URL of `/ws`. */
export function getSocketUrl(base: URL): string {
  const url = new URL("/ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** Returns the text of a `message` event, or undefined for binary data, which the gateway never sends. */
export function getText(event: object): string | undefined {
  return "data" in event && typeof event.data === "string" ? event.data : undefined;
}

/** Returns the code of a `close` event. */
export function getCloseCode(event: object): number | undefined {
  return "code" in event && typeof event.code === "number" ? event.code : undefined;
}
