import { type Context, Hono } from "hono";
import { apiErrors } from "./api/errors.ts";
import { apiRoutes } from "./api/routes.ts";
import { signIn, signOut } from "./api/sign-in.ts";
import { type Auth, sameOrigin } from "./auth/index.ts";
import { messageOf } from "./errors.ts";
import { type Env, jsonOnly, limitBody, noStore, ownerOnly, readLeftovers, remoteOf } from "./guard.ts";
import { type HookRoutes, hookRoute } from "./hooks.ts";
import type { Logger } from "./logger.ts";
import { openAiErrors } from "./openai/errors.ts";
import { openAiRoutes } from "./openai/routes.ts";
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
  readonly allowedHosts: ReadonlySet<string>;
  readonly hooks: HookRoutes;
  readonly pageDir: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Every route of the gateway, in the order in which they are tried. */
export function createApp(options: AppOptions): Hono<Env> {
  const { service, auth, allowedHosts, logger, now } = options;
  const app = new Hono<Env>();
  app.use(readLeftovers);

  app.get("/healthz", (context) => context.json({ status: "ok" }));
  app.get("/readyz", (context) =>
    service.ready() ? context.json({ status: "ready" }) : context.json({ status: "stopping" }, 503),
  );
  app.get("/metrics", ownerOnly(auth, allowedHosts, apiErrors), async (context) => {
    const { contentType, body } = await service.metrics();
    return context.body(body, 200, { "content-type": contentType });
  });

  app.post("/channels/:channel/:account/:rest{.*}", limitBody(MAX_BODY, apiErrors), (context) =>
    webhook(context, service),
  );
  app.get("/channels/:channel/:account/:rest{.*}", (context) => webhook(context, service));

  app.use("/hooks/*", limitBody(MAX_BODY, apiErrors), jsonOnly(apiErrors));
  app.post("/hooks/:name", (context) =>
    hookRoute(context, { service, auth, allowedHosts, routes: options.hooks }),
  );

  app.use("/v1/*", ownerOnly(auth, allowedHosts, openAiErrors), jsonOnly(openAiErrors));
  app.use("/v1/*", limitBody(MAX_OPENAI_BODY, openAiErrors));
  app.route("/v1", openAiRoutes(service, now));

  app.use("/api/*", noStore, limitBody(MAX_BODY, apiErrors), jsonOnly(apiErrors));
  // Signing in is how a browser without a session gets one, so it comes before the guard.
  app.post("/api/login", (context) =>
    isFromOwnPage(context, allowedHosts)
      ? signIn(context, auth, remoteOf(context))
      : apiErrors.wrongHost(context),
  );
  app.use("/api/*", ownerOnly(auth, allowedHosts, apiErrors));
  app.post("/api/logout", (context) => signOut(context, auth, context.get("session")));
  app.route("/api", apiRoutes(service));

  app.get("*", pageFiles(options.pageDir));
  app.notFound(apiErrors.notFound);
  app.onError((error, context) => {
    logger.error({ err: messageOf(error), path: context.req.path }, "request failed");
    return (context.req.path.startsWith("/v1/") ? openAiErrors : apiErrors).internal(context);
  });
  return app;
}

function isFromOwnPage(context: Context<Env>, allowedHosts: ReadonlySet<string>): boolean {
  const { host, origin } = context.req.header();
  return sameOrigin({ host, origin }, allowedHosts);
}
