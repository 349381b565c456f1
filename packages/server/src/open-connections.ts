import type { Access, Auth, Principal } from "./auth/index.ts";
import type { Logger } from "./logger.ts";

/** How often it is asked whether what opened a connection is still good: a token may be revoked by another process. */
const CHECKED_MS = 5_000;

/** Sockets and streams that whoever holds one token may have open. */
const MOST_OF_HOLDER = 100;

/** Why a connection is ended from this side. */
export type EndReason = "signed_out" | "access_over" | "stopping";

/** Connections that stay open, each for as long as what it was opened with is good. */
export interface OpenConnections {
  /** Whether a holder of a token has as many open as one may have. */
  isFull(principal: Principal): boolean;
  /**
   * @param end called once at most
   * @returns what is to be called when it has closed
   */
  add(access: Access, end: (reason: EndReason) => void): () => void;
  /** The gateway stops: all of them end. */
  stop(): void;
}

export function createOpenConnections(auth: Auth, logger: Logger): OpenConnections {
  const open = new Map<(reason: EndReason) => void, Access>();
  const end = (each: (reason: EndReason) => void, reason: EndReason): void => {
    if (open.delete(each)) each(reason);
  };
  auth.onSignOut((sessionId) => {
    for (const [each, { session }] of open) if (session?.id === sessionId) end(each, "signed_out");
  });
  const checks = setInterval(() => {
    for (const [each, access] of open) {
      auth.isGood(access).then(
        (isGood) => isGood || end(each, "access_over"),
        (error: unknown) => logger.error({ err: String(error) }, "a viewer's session could not be checked"),
      );
    }
  }, CHECKED_MS).unref();
  return {
    isFull: ({ name, role }) => {
      const isTheirs = ({ principal }: Access): boolean => principal.name === name && principal.role === role;
      return [...open.values()].filter(isTheirs).length >= MOST_OF_HOLDER;
    },
    add(access, endOne) {
      open.set(endOne, access);
      return () => void open.delete(endOne);
    },
    stop() {
      clearInterval(checks);
      for (const each of open.keys()) end(each, "stopping");
    },
  };
}
