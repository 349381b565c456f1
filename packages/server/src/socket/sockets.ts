import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { reasonOf } from "@signalbox/channel";
import { CLOSE_UNAUTHORIZED, SOCKET_PROTOCOL, sessionKeyOffered } from "@signalbox/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { type Access, type Auth, isFromOwnPage } from "../auth/index.ts";
import { type ActivityWatch, createActivityWatch } from "../live/activity.ts";
import type { Logger } from "../logger.ts";
import type { EndReason, OpenConnections } from "../open-connections.ts";
import type { GatewayService } from "../service.ts";
import { serveConnection } from "./connection.ts";

const MAX_FRAME = 1_000_000;

const CLOSES: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  signed_out: [CLOSE_UNAUTHORIZED, "signed out"],
  access_ended: [CLOSE_UNAUTHORIZED, "the session or the token is no longer valid"],
  stopping: [1001, "the gateway is stopping"],
};

/** The WebSockets under `/ws`. */
export interface Sockets {
  /** Completes or refuses an upgrade request. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Terminates the sockets that are still open after `graceMs`. */
  cut(graceMs: number): void;
}

export interface SocketsOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly allowedHosts: () => ReadonlySet<string>;
  readonly connections: OpenConnections;
  readonly logger: Logger;
  /** Called for each refused upgrade. */
  readonly onRefused: (status: number) => void;
}

type Refusal = "403 Forbidden" | "404 Not Found" | "429 Too Many Requests" | "401 Unauthorized";

export function createSockets(options: SocketsOptions): Sockets {
  return new OpenSockets(options);
}

class OpenSockets implements Sockets {
  readonly #options: SocketsOptions;
  readonly #watch: ActivityWatch;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_FRAME,
    // Browsers require that the server picks an offered subprotocol. Never echo the one that carries the session key.
    handleProtocols: (offered) => offered.has(SOCKET_PROTOCOL) && SOCKET_PROTOCOL,
  });

  constructor(options: SocketsOptions) {
    this.#options = options;
    const { service, logger } = options;
    this.#watch = createActivityWatch({
      service,
      onError: (error) =>
        logger.warn({ err: reasonOf(error) }, "failed to push an activity update to viewers"),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Node.js no longer listens for errors of an upgraded socket, and an unhandled one would end the process.
    socket.on("error", () => socket.destroy());
    this.#upgrade(request, socket, head).catch((error: unknown) => {
      this.#options.logger.error({ err: String(error) }, "WebSocket upgrade failed");
      this.#refuse(socket, "500 Internal Server Error");
    });
  }

  cut(graceMs: number): void {
    setTimeout(() => {
      for (const connection of this.#server.clients) connection.terminate();
    }, graceMs).unref();
  }

  #end(connection: WebSocket, reason: EndReason): void {
    // Ignore messages that arrive before the client confirms the close.
    connection.removeAllListeners("message");
    const [code, text] = CLOSES[reason];
    connection.close(code, text);
  }

  async #authenticate(request: IncomingMessage): Promise<Refusal | Access> {
    const { allowedHosts, auth } = this.#options;
    if (request.url?.split("?", 1)[0] !== "/ws") return "404 Not Found";
    if (!isFromOwnPage(request.headers, allowedHosts())) return "403 Forbidden";
    const { authorization, cookie, "sec-websocket-protocol": offered } = request.headers;
    const sessionKey = sessionKeyOffered(offered);
    const { remoteAddress: remote = "", localPort: port = 0 } = request.socket;
    const result = await auth.check({
      ...{ authorization, cookie, sessionKey, remote, port },
      headers: request.headersDistinct,
    });
    if (result.kind === "granted")
      return this.#options.connections.isFull(result.access.principal)
        ? "429 Too Many Requests"
        : result.access;
    return result.kind === "throttled" ? "429 Too Many Requests" : "401 Unauthorized";
  }

  #refuse(socket: Duplex, status: string): void {
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { auth, logger, service } = this.#options;
    const access = await this.#authenticate(request);
    if (typeof access === "string") {
      this.#options.onRefused(Number.parseInt(access, 10));
      this.#refuse(socket, access);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      connection.on(
        "close",
        this.#options.connections.add(access, (reason) => this.#end(connection, reason)),
      );
      const onUse = (): void =>
        void auth
          .used(access)
          .catch((error: unknown) => logger.error({ err: String(error) }, "failed to extend a session"));
      const { principal } = access;
      serveConnection(connection, { service, principal, watch: this.#watch, logger, onUse });
    });
  }
}
