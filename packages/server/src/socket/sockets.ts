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

const CLOSES: Readonly<Record<EndReason, readonly [code: number, words: string]>> = {
  signed_out: [CLOSE_UNAUTHORIZED, "signed out"],
  access_over: [CLOSE_UNAUTHORIZED, "the session or the token has ended"],
  stopping: [1001, "the gateway is stopping"],
};

/** The connections to `/ws`. */
export interface Sockets {
  /** Takes an upgrade over, or refuses it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Cuts those that have not closed within `graceMs`. */
  cut(graceMs: number): void;
}

export interface SocketsOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly allowedHosts: () => ReadonlySet<string>;
  readonly connections: OpenConnections;
  readonly logger: Logger;
  /** Told of each upgrade that is refused. */
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
    // A browser that offers some wants one of them; the one with its key is not said again.
    handleProtocols: (offered) => offered.has(SOCKET_PROTOCOL) && SOCKET_PROTOCOL,
  });

  constructor(options: SocketsOptions) {
    this.#options = options;
    const { service, logger } = options;
    this.#watch = createActivityWatch({
      service,
      onError: (error) => logger.warn({ err: reasonOf(error) }, "viewers could not be shown an update"),
    });
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // The server has let the socket go: without a listener a sender that hangs up would end the process.
    socket.on("error", () => socket.destroy());
    this.#take(request, socket, head).catch((error: unknown) => {
      this.#options.logger.error({ err: String(error) }, "an upgrade failed");
      this.#refuse(socket, "500 Internal Server Error");
    });
  }

  cut(graceMs: number): void {
    setTimeout(() => {
      for (const connection of this.#server.clients) connection.terminate();
    }, graceMs).unref();
  }

  #end(connection: WebSocket, reason: EndReason): void {
    // One that does not answer the close is heard no more either.
    connection.removeAllListeners("message");
    const [code, words] = CLOSES[reason];
    connection.close(code, words);
  }

  async #admit(request: IncomingMessage): Promise<Refusal | Access> {
    const { allowedHosts, auth } = this.#options;
    if (request.url?.split("?", 1)[0] !== "/ws") return "404 Not Found";
    if (!isFromOwnPage(request.headers, allowedHosts())) return "403 Forbidden";
    const { authorization, cookie, "sec-websocket-protocol": offered } = request.headers;
    const sessionKey = sessionKeyOffered(offered);
    const { remoteAddress: remote = "", localPort: port = 0 } = request.socket;
    const result = await auth.check({ authorization, cookie, sessionKey, remote, port });
    if (result.kind === "granted")
      return this.#options.connections.isFull(result.access.principal)
        ? "429 Too Many Requests"
        : result.access;
    return result.kind === "throttled" ? "429 Too Many Requests" : "401 Unauthorized";
  }

  #refuse(socket: Duplex, status: string): void {
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  }

  async #take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { auth, logger, service } = this.#options;
    const admitted = await this.#admit(request);
    if (typeof admitted === "string") {
      this.#options.onRefused(Number.parseInt(admitted, 10));
      this.#refuse(socket, admitted);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      connection.on(
        "close",
        this.#options.connections.add(admitted, (reason) => this.#end(connection, reason)),
      );
      const used = (): void =>
        void auth
          .used(admitted)
          .catch((error: unknown) =>
            logger.error({ err: String(error) }, "the use of a session could not be recorded"),
          );
      const { principal } = admitted;
      serveConnection(connection, { service, principal, watch: this.#watch, logger, used });
    });
  }
}
