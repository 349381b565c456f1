import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "./app.ts";
import { type Auth, createHostSet } from "./auth/index.ts";
import { ServerError } from "./errors.ts";
import type { HookRoutes } from "./inbound-hooks.ts";
import type { Logger } from "./logger.ts";
import { createOpenConnections } from "./open-connections.ts";
import type { EntryPoint } from "./refusals.ts";
import type { GatewayService } from "./service.ts";
import { createSockets } from "./socket/sockets.ts";

const HEADERS_MS = 5_000;
const REQUEST_MS = 10_000;
/** Time for viewers to close their sockets when the server stops, in milliseconds. */
const CLOSE_MS = 1_000;

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Host names under which a proxy forwards requests, in addition to `host`. Called for each request. */
  readonly allowedHosts: () => readonly string[];
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly hooks: () => HookRoutes;
  /** Folder of the web page's files. */
  readonly pageDir: string;
  readonly logger: Logger;
  /** Called for each refused request with its entry point and response status. */
  readonly onRefused?: (entryPoint: EntryPoint, status: number) => void;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
}

export interface HttpServer {
  /** Base URL, for example `http://127.0.0.1:4747`. */
  readonly url: string;
  /**
   * Accepts no new connections, closes WebSockets and event streams within a second, and cuts the remaining
   * connections after `drainMs`.
   */
  stop(drainMs: number): Promise<void>;
}

/**
 * Starts an HTTP server with every route of the gateway.
 *
 * @throws {ServerError} if it cannot listen on the address
 */
export async function startServer(options: ServerOptions): Promise<HttpServer> {
  const { service, auth, logger, now = Date.now } = options;
  const allowedHosts = (): ReadonlySet<string> => createHostSet(options.host, options.allowedHosts());
  const onRefused = options.onRefused ?? (() => {});
  const connections = createOpenConnections(auth, logger);
  const app = createApp({ ...options, allowedHosts, connections, now, onRefused });
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 1_000,
    },
  });
  if (!isHttp1(server)) throw new TypeError("createAdaptorServer did not create an HTTP/1.1 server");
  const sockets = createSockets({
    service,
    auth,
    allowedHosts,
    connections,
    logger,
    onRefused: (status) => onRefused("ws", status),
  });
  server.on("upgrade", (request, socket, head) => sockets.upgrade(request, socket, head));
  await listen(server, options);
  return {
    url: getUrl(server, options.host),
    async stop(drainMs) {
      connections.stop();
      sockets.cut(Math.min(CLOSE_MS, drainMs));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function getUrl(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function isHttp1(server: ReturnType<typeof createAdaptorServer>): server is Server {
  return "closeIdleConnections" in server;
}

async function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.code === "EADDRINUSE") {
        const message = `${host}:${port} is in use by another program`;
        reject(new ServerError("address_in_use", message, { cause }));
      } else {
        const message = `cannot listen on ${host}:${port} (${cause.code ?? cause.message})`;
        reject(new ServerError("address_unusable", message, { cause }));
      }
    });
    server.listen(port, host, resolve);
  });
}
