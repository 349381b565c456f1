import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { CLOSE_UNAUTHORIZED } from "@signalbox/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { type Auth, sameOrigin } from "../auth/index.ts";
import type { Logger } from "../logger.ts";
import type { GatewayService } from "../service.ts";
import { serveConnection } from "./connection.ts";

const MAX_FRAME = 1_000_000;

/** The connections to `/ws`. */
export interface Sockets {
  /** Takes an upgrade over, or refuses it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Asks every connection to close, and cuts those that have not within `graceMs`. */
  close(graceMs: number): void;
}

export interface SocketsOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly allowedHosts: ReadonlySet<string>;
  readonly logger: Logger;
}

export function createSockets({ service, auth, allowedHosts, logger }: SocketsOptions): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: MAX_FRAME });
  /** The connections that the session of a browser has opened. */
  const bySession = new Map<string, Set<WebSocket>>();
  auth.onSignOut((sessionId) => {
    for (const connection of bySession.get(sessionId) ?? []) {
      // One that does not answer the close is heard no more either.
      connection.removeAllListeners("message");
      connection.close(CLOSE_UNAUTHORIZED, "signed out");
    }
  });

  const admit = (request: IncomingMessage): string | { readonly session: string | undefined } => {
    const { host, origin, authorization, cookie } = request.headers;
    if (request.url?.split("?", 1)[0] !== "/ws") return "404 Not Found";
    if (!sameOrigin({ host, origin }, allowedHosts)) return "403 Forbidden";
    const result = auth.check({ authorization, cookie }, request.socket.remoteAddress ?? "");
    if (result.kind === "owner") return { session: result.session?.id };
    return result.kind === "throttled" ? "429 Too Many Requests" : "401 Unauthorized";
  };

  return {
    upgrade(request, socket, head) {
      // The server has let the socket go: without a listener a sender that hangs up would end the process.
      socket.on("error", () => socket.destroy());
      const admitted = admit(request);
      if (typeof admitted === "string") {
        socket.end(`HTTP/1.1 ${admitted}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
        return;
      }
      server.handleUpgrade(request, socket, head, (connection) => {
        if (admitted.session !== undefined) remember(bySession, admitted.session, connection);
        serveConnection(connection, service, logger);
      });
    },
    close(graceMs) {
      for (const connection of server.clients) connection.close(1001, "the gateway is stopping");
      setTimeout(() => {
        for (const connection of server.clients) connection.terminate();
      }, graceMs).unref();
    },
  };
}

function remember(bySession: Map<string, Set<WebSocket>>, session: string, connection: WebSocket): void {
  const connections = bySession.get(session) ?? new Set();
  bySession.set(session, connections.add(connection));
  connection.on("close", () => {
    connections.delete(connection);
    if (connections.size === 0) bySession.delete(session);
  });
}
