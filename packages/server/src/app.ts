import { reasonOf } from "@signalbox/channel";
import { Hono } from "hono";
import { conversationRoutes } from "./api/conversations.ts";
import { apiErrors } from "./api/errors.ts";
import { eventStreams } from "./api/events.ts";
import { ownerRoutes } from "./api/owner-routes.ts";
import { apiRoutes } from "./api/routes.ts";
import { makeSignInLink, signIn, signOut } from "./api/sign-in.ts";
import { takeUpload } from "./api/uploads.ts";
import type { Auth } from "./auth/index.ts";
import { countRefused, type Door } from "./doors.ts";
import {
  bytesOnly,
  type Env,
  fromOwnPage,
  jsonOnly,
  limitBody,
  noStore,
  ownersOnly,
  readLeftovers,
  signedIn,
} from "./guard.ts";
import { type HookRoutes, hookRoute } from "./hooks.ts";
import type { Logger } from "./logger.ts";
import type { OpenConnections } from "./open-connections.ts";
import { openAiErrors } from "./openai/errors.ts";
import { openAiApp } from "./openai/routes.ts";
import { pageFiles } from "./page.ts";
import type { GatewayService } from "./service.ts";
import { webhook } from "./webhooks.ts";

/** Bytes a request body may have. */
const MAX_BODY = 1_000_000;
/** The same on the OpenAI surface, whose clients send pictures along. */
const MAX_OPENAI_BODY = 10_000_000;

export interface AppOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly allowedHosts: () => ReadonlySet<string>;
  /** Streams of events are among them. */
  readonly connections: OpenConnections;
  readonly hooks: HookRoutes;
  readonly pageDir: string;
  readonly logger: Logger;
  readonly now: () => number;
  /** Told of each request that is refused. */
  readonly onRefused: (door: Door, status: number) => void;
}

/** Every route of the gateway, in the order in which they are tried. */
export function createApp(options: AppOptions): Hono<Env> {
  const { service, auth, allowedHosts, logger, now } = options;
  const app = new Hono<Env>();
  app.use(readLeftovers, countRefused(options.onRefused));

  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", (context) =>
    service.ready() ? context.json({ status: "ready" }) : context.json({ status: "stopping" }, 503),
  );
  app.use("/metrics", noStore, fromOwnPage(allowedHosts, apiErrors), signedIn(auth, apiErrors));
  app.get("/metrics", ownersOnly(apiErrors), async (context) => {
    const { contentType, body } = await service.metrics();
    return context.body(body, 200, { "content-type": contentType });
  });

  app.post("/channels/:channel/:account/:rest{.*}", limitBody(MAX_BODY, apiErrors), (context) =>
    webhook(context, service),
  );
  app.get("/channels/:channel/:account/:rest{.*}", (context) => webhook(context, service));

  app.use("/hooks/*", fromOwnPage(allowedHosts, apiErrors), limitBody(MAX_BODY, apiErrors));
  app.post("/hooks/:name", jsonOnly(apiErrors), (context) =>
    hookRoute(context, { service, auth, routes: options.hooks }),
  );

  app.use("/v1/*", noStore, fromOwnPage(allowedHosts, openAiErrors), signedIn(auth, openAiErrors));
  app.use("/v1/*", jsonOnly(openAiErrors), limitBody(MAX_OPENAI_BODY, openAiErrors));
  app.all("/v1/*", openAiApp(service, now));

  // The only body that is not JSON.
  app.put(
    "/api/uploads/:id",
    noStore,
    bytesOnly(apiErrors.notBytes),
    limitBody(MAX_BODY, apiErrors),
    fromOwnPage(allowedHosts, apiErrors),
    signedIn(auth, apiErrors),
    (context) => takeUpload(context, service),
  );
  app.use("/api/*", noStore, limitBody(MAX_BODY, apiErrors), jsonOnly(apiErrors));
  app.use("/api/*", fromOwnPage(allowedHosts, apiErrors));
  // Signing in is how a browser without a session gets one, so it comes before the guard.
  app.post("/api/login", (context) => signIn(context, auth));
  app.use("/api/*", signedIn(auth, apiErrors));
  app.post("/api/logout", (context) => signOut(context, auth));
  app.route("/api", apiRoutes(service));
  app.route("/api/conversations", conversationRoutes(service));
  app.get("/api/conversations/:id/events", eventStreams(service, options.connections));
  app.use("/api/*", ownersOnly(apiErrors));
  app.post("/api/sign-in-links", (context) => makeSignInLink(context, auth));
  app.route("/api", ownerRoutes(service));

  app.get("*", pageFiles(options.pageDir));
  app.notFound(apiErrors.notFound);
  app.onError((error, context) => {
    logger.error({ err: reasonOf(error), path: context.req.path }, "request failed");
    return (context.req.path.startsWith("/v1/") ? openAiErrors : apiErrors).internal(context);
  });
  return app;
}
