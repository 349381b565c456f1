import { reasonOf } from "@signalbox/channel";
import { getStoreError, isRetryable } from "@signalbox/store/errors";
import { Hono } from "hono";
import { adminRoutes } from "./api/admin-routes.ts";
import { conversationRoutes } from "./api/conversations.ts";
import { eventStreams } from "./api/events.ts";
import { finishMcpLogin, MCP_CALLBACK_PATH, mcpRoutes } from "./api/mcp-routes.ts";
import { endOidcSessions, finishOidcSignIn, OIDC_LOGOUT_PATH, startOidcSignIn } from "./api/oidc-routes.ts";
import { ownerRoutes } from "./api/owner-routes.ts";
import { requireRouteScope } from "./api/route-scope.ts";
import { apiRoutes } from "./api/routes.ts";
import {
  createSignInLink,
  getSignInMethods,
  signIn,
  signInByProxy,
  signInRoutes,
  signOut,
} from "./api/sign-in.ts";
import { receiveUpload } from "./api/uploads.ts";
import { ApiError } from "./api-error.ts";
import { type Auth, OIDC_CALLBACK_PATH } from "./auth/index.ts";
import { forwardWebhook } from "./channel-webhooks.ts";
import { apiErrors } from "./error-replies.ts";
import { callHook, type HookRoutes } from "./inbound-hooks.ts";
import type { Logger } from "./logger.ts";
import { answerMcpRequest } from "./mcp/mcp-endpoint.ts";
import {
  drainBody,
  type Env,
  limitBody,
  noStore,
  requireAuth,
  requireBytes,
  requireJson,
  requireMonitoring,
  requireOwnOrigin,
  requireScope,
} from "./middleware.ts";
import type { OpenConnections } from "./open-connections.ts";
import { openAiErrors } from "./openai/errors.ts";
import { openAiApp } from "./openai/routes.ts";
import { countRefused, type EntryPoint } from "./refusals.ts";
import type { GatewayService } from "./service.ts";
import { staticFiles } from "./static-files.ts";

/** Largest request body in bytes. */
const MAX_BODY = 1_000_000;
/** Largest body on the OpenAI surface, whose clients embed images. */
const MAX_OPENAI_BODY = 10_000_000;

export interface AppOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly allowedHosts: () => ReadonlySet<string>;
  /** Tracks open event streams. */
  readonly connections: OpenConnections;
  /** Returns the inbound hooks in effect. */
  readonly hooks: () => HookRoutes;
  readonly pageDir: string;
  readonly logger: Logger;
  readonly now: () => number;
  /** Called for each refused request. */
  readonly onRefused: (entryPoint: EntryPoint, status: number) => void;
}

/** Builds the application with every route of the gateway. Hono tries routes in the order of this function. */
export function createApp(options: AppOptions): Hono<Env> {
  const { service, auth, allowedHosts, logger, now } = options;
  const app = new Hono<Env>();
  app.use(drainBody, countRefused(options.onRefused));

  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", (context) => {
    if (!service.ready()) return context.json({ status: "stopping" }, 503);
    const code = service.storeFault();
    return code === undefined
      ? context.json({ status: "ready" })
      : context.json({ status: "store_unavailable", code }, 503);
  });
  app.use("/metrics", noStore, requireOwnOrigin(allowedHosts, apiErrors));
  app.get("/metrics", requireMonitoring(auth, apiErrors), async (context) => {
    const { contentType, body } = await service.metrics();
    return context.body(body, 200, { "content-type": contentType });
  });

  app.post("/channels/:channel/:account/:rest{.*}", limitBody(MAX_BODY, apiErrors), (context) =>
    forwardWebhook(context, service),
  );
  app.get("/channels/:channel/:account/:rest{.*}", (context) => forwardWebhook(context, service));

  app.use("/hooks/*", requireOwnOrigin(allowedHosts, apiErrors), limitBody(MAX_BODY, apiErrors));
  app.post("/hooks/:name", requireJson(apiErrors), (context) =>
    callHook(context, { service, auth, routes: options.hooks() }),
  );

  const { mcp, admin } = service;
  if (mcp) app.get(MCP_CALLBACK_PATH, noStore, (context) => finishMcpLogin(context, mcp));

  app.get(OIDC_CALLBACK_PATH, noStore, (context) => finishOidcSignIn(context, auth));
  app.post(OIDC_LOGOUT_PATH, noStore, limitBody(MAX_BODY, apiErrors), (context) =>
    endOidcSessions(context, auth),
  );

  app.post(
    "/mcp",
    noStore,
    requireOwnOrigin(allowedHosts, apiErrors),
    requireAuth(auth, apiErrors),
    requireJson(apiErrors),
    limitBody(MAX_BODY, apiErrors),
    (context) => answerMcpRequest(context, service),
  );

  app.use("/v1/*", noStore, requireOwnOrigin(allowedHosts, openAiErrors), requireAuth(auth, openAiErrors));
  app.use("/v1/*", requireScope("chat", openAiErrors));
  app.use("/v1/*", requireJson(openAiErrors), limitBody(MAX_OPENAI_BODY, openAiErrors));
  app.all("/v1/*", openAiApp(service, now));

  // The only route of `/api` whose body is not JSON. It must come before `requireJson`.
  app.put(
    "/api/uploads/:id",
    noStore,
    requireBytes(apiErrors.notBytes),
    limitBody(MAX_BODY, apiErrors),
    requireOwnOrigin(allowedHosts, apiErrors),
    requireAuth(auth, apiErrors),
    requireScope("chat", apiErrors),
    (context) => receiveUpload(context, service),
  );
  app.use("/api/*", noStore, limitBody(MAX_BODY, apiErrors), requireJson(apiErrors));
  app.use("/api/*", requireOwnOrigin(allowedHosts, apiErrors));
  // Before `requireAuth`: a browser that signs in has no session yet.
  app.post("/api/login", (context) => signIn(context, auth));
  app.post("/api/login/oidc", (context) => startOidcSignIn(context, auth));
  app.post("/api/login/proxy", (context) => signInByProxy(context, auth));
  app.get("/api/sign-in-methods", (context) => context.json(getSignInMethods(context, auth)));
  app.use("/api/*", requireAuth(auth, apiErrors), requireRouteScope(auth, now));
  app.post("/api/logout", (context) => signOut(context, auth));
  app.route("/api", apiRoutes(service));
  app.route("/api/conversations", conversationRoutes(service));
  app.get("/api/conversations/:id/events", eventStreams(service, options.connections));
  app.post("/api/sign-in-links", (context) => createSignInLink(context, auth));
  app.route("/api/sign-ins", signInRoutes(auth));
  app.route("/api", ownerRoutes(service));
  if (mcp) app.route("/api/mcp", mcpRoutes(mcp));
  if (admin) app.route("/api", adminRoutes(admin));

  app.get("*", staticFiles(options.pageDir));
  app.notFound(apiErrors.notFound);
  app.onError((error, context) => {
    if (error instanceof ApiError) return apiErrors.refused(context, error);
    logger.error({ err: reasonOf(error), path: context.req.path }, "request failed");
    const replies = context.req.path.startsWith("/v1/") ? openAiErrors : apiErrors;
    const fault = getStoreError(error);
    if (!isRetryable(fault)) return replies.internal(context);
    return replies.storeUnavailable(context, fault?.code === "disk_full");
  });
  return app;
}
