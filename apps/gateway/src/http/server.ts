import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { type Context, Hono, type Next } from "hono";
import { bodyLimit } from "hono/body-limit";
import { codeOf, EXIT, GatewayError, messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { GatewayService } from "../service/service.ts";
import { apiErrors, apiRoutes } from "./api.ts";
import type { Auth } from "./auth.ts";
import { callHook, type HookRoutes } from "./hooks.ts";
import { openAiRoutes } from "./openai.ts";
import { openAiErrors } from "./openai-common.ts";
import { hostsOf, sameOrigin } from "./origin.ts";
import { createSocketUpgrade } from "./socket.ts";
import { staticFiles } from "./static.ts";

/** Bytes a request body may have. */
const MAX_BODY = 1_000_000;
const HEADERS_MS = 5_000;
/** How long what is left of a refused body is still read. */
const DRAIN_MS = 500;
const REQUEST_MS = 10_000;

export interface HttpOptions {
  /** Named where the address cannot be listened on. */
  readonly configFile: string;
  readonly host: string;
  readonly port: number;
  /** Names besides, under which a proxy passes requests on. */
  readonly allowedHosts: readonly string[];
  readonly service: GatewayService;
  readonly hooks: HookRoutes;
  readonly auth: Auth;
  readonly logger: Logger;
  /** The built console. */
  readonly consoleDir: string;
}

export interface HttpServer {
  /** Where it listens, for instance `http://127.0.0.1:4747`. */
  readonly url: string;
  /** Takes no new connections and ends the open ones after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}

type Env = { Bindings: HttpBindings };
type Errors = Pick<typeof openAiErrors, "unauthorized" | "throttled" | "tooLarge" | "wrongHost" | "notJson">;

/**
 * Listens with every route of the gateway.
 * @throws GatewayError where the address is taken or not allowed
 */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const app = createApp(options);
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 1_000,
    },
  });
  if (!isHttp1(server)) throw new TypeError("an HTTP/1.1 server was expected");
  const upgrade = createSocketUpgrade(options.service, options.logger);
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // The server has let the socket go: without a listener a sender that hangs up would end the process.
    socket.on("error", () => socket.destroy());
    const refusal = refuseUpgrade(request, options);
    if (refusal !== undefined)
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else upgrade.handle(request, socket, head);
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    async stop(drainMs) {
      upgrade.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function createApp(options: HttpOptions): Hono<Env> {
  const { service, auth } = options;
  const allowedHosts = hostsOf(options.host, options.allowedHosts);
  const app = new Hono<Env>();
  app.use(readLeftovers);

  const guard =
    (errors: Errors) =>
    async (context: Context<Env>, next: Next): Promise<Response | undefined> => {
      const { host, origin, authorization, cookie } = context.req.header();
      if (!sameOrigin({ host, origin }, allowedHosts)) return errors.wrongHost(context);
      const result = auth.check({ authorization, cookie }, remoteOf(context));
      if (result.kind === "throttled")
        context.header("retry-after", String(Math.ceil(result.retryAfterMs / 1000)));
      if (result.kind !== "owner")
        return result.kind === "throttled" ? errors.throttled(context) : errors.unauthorized(context);
      await next();
      return undefined;
    };
  const jsonOnly =
    (errors: Errors) =>
    async (context: Context<Env>, next: Next): Promise<Response | undefined> => {
      const mutates = context.req.method !== "GET" && context.req.method !== "HEAD";
      const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
      if (mutates && type !== "application/json") return errors.notJson(context);
      await next();
      return undefined;
    };
  const limit = (errors: Errors) => {
    const counted = bodyLimit({ maxSize: MAX_BODY, onError: errors.tooLarge });
    return async (context: Context<Env>, next: Next): Promise<Response | undefined> => {
      const { "content-length": length, "transfer-encoding": encoding } = context.env.incoming.headers;
      // Node.js keeps a sender to the length it states: only a body of unknown length has to be counted as it comes,
      // which takes the web streams that all others do without.
      if (length === undefined || encoding !== undefined) return (await counted(context, next)) ?? undefined;
      if (Number(length) > MAX_BODY) return errors.tooLarge(context);
      await next();
      return undefined;
    };
  };

  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", (context) =>
    service.ready() ? context.json({ status: "ready" }) : context.json({ status: "stopping" }, 503),
  );

  app.post("/channels/:channel/:account/:rest{.*}", limit(apiErrors), (context) => webhook(context, service));
  app.get("/channels/:channel/:account/:rest{.*}", (context) => webhook(context, service));

  app.use("/hooks/*", limit(apiErrors), jsonOnly(apiErrors));
  app.post("/hooks/:name", async (context) => {
    const { host, origin, authorization } = context.req.header();
    if (!sameOrigin({ host, origin }, allowedHosts)) return apiErrors.wrongHost(context);
    const name = context.req.param("name");
    const { hooks, defaultAgent } = options.hooks;
    const hook = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
    // Who may not call it does not hear whether it is there.
    const result = auth.checkSecret(authorization, hook?.secret, remoteOf(context));
    if (result.kind === "throttled") return apiErrors.throttled(context);
    if (result.kind !== "owner") return apiErrors.unauthorized(context);
    return hook === undefined
      ? apiErrors.notFound(context)
      : callHook(context, service, name, { hook, defaultAgent });
  });

  app.use("/v1/*", guard(openAiErrors), jsonOnly(openAiErrors), limit(openAiErrors));
  app.route("/v1", openAiRoutes(service));

  // Signing in is how a browser without a session gets one, so these two come before the guard.
  app.use("/api/*", limit(apiErrors), jsonOnly(apiErrors));
  app.post("/api/login", async (context) => {
    const { host, origin } = context.req.header();
    if (!sameOrigin({ host, origin }, allowedHosts)) return apiErrors.wrongHost(context);
    const body: unknown = await context.req.json().catch(() => undefined);
    const token = body !== null && typeof body === "object" && "token" in body ? body.token : undefined;
    if (typeof token !== "string") return apiErrors.badJson(context, 'Send {"token": "…"}.');
    const result = auth.signIn(token, remoteOf(context));
    if (result.kind === "throttled") return apiErrors.throttled(context);
    if (result.kind !== "owner") return apiErrors.unauthorized(context);
    context.header("set-cookie", auth.cookie());
    return context.body(null, 204);
  });
  app.use("/api/*", guard(apiErrors));
  app.post("/api/logout", (context) => {
    context.header("set-cookie", auth.expiredCookie());
    return context.body(null, 204);
  });
  app.route("/api", apiRoutes(service));
  app.get("/metrics", guard(apiErrors), async (context) => {
    const { contentType, body } = await service.metrics();
    return context.body(body, 200, { "content-type": contentType });
  });

  app.get("*", staticFiles(options.consoleDir));
  app.notFound(apiErrors.notFound);
  app.onError((error, context) => {
    options.logger.error({ err: messageOf(error), path: context.req.path }, "request failed");
    return (context.req.path.startsWith("/v1/") ? openAiErrors : apiErrors).internal(context);
  });
  return app;
}

/**
 * A request that is answered before its body was read: the rest is read for a moment, so that its sender comes to see
 * the answer, and the connection is not used again.
 */
async function readLeftovers(context: Context<Env>, next: Next): Promise<void> {
  await next();
  const { incoming } = context.env;
  if (incoming.complete || incoming.destroyed) return;
  // Whoever began to read the body would keep in memory what comes now.
  incoming.removeAllListeners("data");
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    incoming.once("end", done).once("close", done).resume();
  });
  context.header("connection", "close");
}

async function webhook(context: Context<Env>, service: GatewayService): Promise<Response> {
  if (!service.ready())
    return context.json({ error: { code: "stopping", message: "The gateway is stopping." } }, 503);
  const channel = context.req.param("channel") ?? "";
  const account = context.req.param("account") ?? "";
  const { raw } = context.req;
  // Its length is held to the limit, so it need not be counted as a stream.
  const read = async (): Promise<Uint8Array> => new Uint8Array(await raw.arrayBuffer());
  const response = await service.webhook(channel, account, raw, read);
  return response ?? apiErrors.noAccount(context, channel, account);
}

function refuseUpgrade(request: IncomingMessage, options: HttpOptions): string | undefined {
  const { host, origin, authorization, cookie } = request.headers;
  if (request.url?.split("?", 1)[0] !== "/ws") return "404 Not Found";
  if (!sameOrigin({ host, origin }, hostsOf(options.host, options.allowedHosts))) return "403 Forbidden";
  const result = options.auth.check({ authorization, cookie }, request.socket.remoteAddress ?? "");
  if (result.kind === "throttled") return "429 Too Many Requests";
  return result.kind === "owner" ? undefined : "401 Unauthorized";
}

function remoteOf(context: Context<Env>): string {
  return context.env.incoming.socket.remoteAddress ?? "";
}

function isHttp1(server: ReturnType<typeof createAdaptorServer>): server is Server {
  return "closeIdleConnections" in server;
}

async function listen(server: Server, { host, port, configFile }: HttpOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const code = codeOf(error);
      if (code === "EADDRINUSE") {
        reject(
          new GatewayError(
            EXIT.unavailable,
            `${configFile}: gateway.port: ${host}:${port} is in use by another program. Set another gateway.port, or stop that program.`,
          ),
        );
      } else if (code === "EACCES" || code === "EADDRNOTAVAIL") {
        reject(
          new GatewayError(
            EXIT.unavailable,
            `${configFile}: gateway.host, gateway.port: ${host}:${port} cannot be listened on (${code}). Use an address of this machine and a port above 1023.`,
          ),
        );
      } else reject(error);
    });
    server.listen(port, host, resolve);
  });
}
