import type { Access, Auth, Principal } from "./auth/index.ts";
import type { Logger } from "./logger.ts";

/** Interval at which credentials of open connections are rechecked. Another process may revoke a token. */
const RECHECK_MS = 5_000;

/** Sockets and event streams that may be open with one token. */
const MAX_PER_TOKEN = 100;

/** Why the server closes a connection. */
export type EndReason = "signed_out" | "access_ended" | "stopping";

/** Long-lived connections. Each is closed when its credential expires or is revoked. */
export interface OpenConnections {
  /** Returns true if a token has reached the limit of open connections. */
  isFull(principal: Principal): boolean;
  /**
   * @param end closes the connection; called at most once
   * @returns a function to call when the connection has closed
   */
  add(access: Access, end: (reason: EndReason) => void): () => void;
  /** Closes all connections, because the gateway stops. */
  stop(): void;
}

export function createOpenConnections(auth: Auth, logger: Logger): OpenConnections {
  const open = new Map<(reason: EndReason) => void, Access>();
  const close = (end: (reason: EndReason) => void, reason: EndReason): void => {
    if (open.delete(end)) end(reason);
  };
  auth.browsers.onSignOut((sessionId) => {
    for (const [end, { session }] of open) if (session?.id === sessionId) close(end, "signed_out");
  });
  const checks = setInterval(() => {
    for (const [end, access] of open) {
      auth.isGood(access).then(
        (isGood) => isGood || close(end, "access_ended"),
        (error: unknown) =>
          logger.error({ err: String(error) }, "failed to check the credential of an open connection"),
      );
    }
  }, RECHECK_MS).unref();
  return {
    isFull: ({ name, role }) => {
      const isSame = ({ principal }: Access): boolean => principal.name === name && principal.role === role;
      return [...open.values()].filter(isSame).length >= MAX_PER_TOKEN;
    },
    add(access, end) {
      open.set(end, access);
      return () => void open.delete(end);
    },
    stop() {
      clearInterval(checks);
      for (const end of open.keys()) close(end, "stopping");
    },
  };
}
