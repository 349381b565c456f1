/** What is used of a WebSocket: a browser's, Node's own, or that of the package `ws`. */
export interface WebSocketLike {
  send(data: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: object) => void): void;
}

/**
 * Node's WebSocket and that of `ws` take headers as second argument. Browsers set none: they send the cookie, and what
 * goes with it as subprotocols.
 */
export interface WebSocketConstructor {
  new (url: string, init?: { headers: Record<string, string> }): WebSocketLike;
  new (url: string, protocols: string[]): WebSocketLike;
}

/** A constructor of `globalThis`, whose types differ between browsers and Node. */
export function platformWebSocket(): WebSocketConstructor | undefined {
  const socketClass: unknown = Reflect.get(globalThis, "WebSocket");
  return isConstructor(socketClass) ? socketClass : undefined;
}

function isConstructor(value: unknown): value is WebSocketConstructor {
  return typeof value === "function";
}

/** Address of `/ws` beside the HTTP API. */
export function socketUrl(base: URL): string {
  const url = new URL("/ws", base);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

/** The text of a `message` event; undefined for binary data, which the gateway never sends. */
export function eventText(event: object): string | undefined {
  return "data" in event && typeof event.data === "string" ? event.data : undefined;
}

/** The code of a `close` event. */
export function eventCode(event: object): number | undefined {
  return "code" in event && typeof event.code === "number" ? event.code : undefined;
}
