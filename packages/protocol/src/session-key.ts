/**
 * A browser's session has two halves. The cookie is one; but cookies know no ports, so a browser shows it to every
 * server of the same address. The other is a key, which the page gets as it signs in, keeps in the storage of its
 * origin and sends along itself: to this gateway and nobody else.
 */

/** The header that has the key, for each request under `/api`. */
export const SESSION_KEY_HEADER = "signalbox-session-key";

/** The subprotocol that the gateway picks on `/ws` where it is offered. */
export const SOCKET_PROTOCOL = "signalbox";

const KEY_PREFIX = "signalbox.key.";

/** What a page offers on `/ws`, where it can set no header. The gateway never answers with the one that has the key. */
export function offeredProtocols(sessionKey: string): string[] {
  return [SOCKET_PROTOCOL, KEY_PREFIX + sessionKey];
}

/** The key in a `Sec-WebSocket-Protocol` header. */
export function sessionKeyOffered(header: string | undefined): string | undefined {
  const offered = header?.split(",").map((protocol) => protocol.trim());
  return offered?.find((protocol) => protocol.startsWith(KEY_PREFIX))?.slice(KEY_PREFIX.length);
}
