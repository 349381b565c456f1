/**
 * The credential of a browser session has two halves. One is a cookie, which browsers send to every port of a host. The
 * other is a key, which the page receives on sign-in, stores in the storage of its origin, and sends explicitly. As a
 * result, a server on another port never gets both halves.
 */

/** The header that carries the session key in requests to `/api`. */
export const SESSION_KEY_HEADER = "signalbox-session-key";

/** The subprotocol that the gateway selects on `/ws` if the client offers it. */
export const SOCKET_PROTOCOL = "signalbox";

const KEY_PREFIX = "signalbox.key.";

/**
 * Returns the subprotocols that a page offers on `/ws`. One of them contains the session key, because browsers cannot
 * set headers on WebSockets. The gateway never selects that one.
 */
export function offeredProtocols(sessionKey: string): string[] {
  return [SOCKET_PROTOCOL, KEY_PREFIX + sessionKey];
}

/** Returns the session key in a `Sec-WebSocket-Protocol` header, if any. */
export function sessionKeyOffered(header: string | undefined): string | undefined {
  const offered = header?.split(",").map((protocol) => protocol.trim());
  return offered?.find((protocol) => protocol.startsWith(KEY_PREFIX))?.slice(KEY_PREFIX.length);
}
