import { type Handler, Hono } from "hono";
import type { Principal } from "../auth/index.ts";
import { type Env, noStore } from "../middleware.ts";
import { scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { openAiError, openAiErrors } from "./errors.ts";
import { getModel, listModels } from "./models.ts";
import { responsesRoute } from "./responses.ts";
import { createRetries } from "./retries.ts";
import { InvalidRequestError } from "./submission.ts";

/**
 * `/v1/models`, `/v1/chat/completions` and `/v1/responses`: the agent is the model, and `user` names the peer. Each
 * client has separate routes with separate retries, so that a shared idempotency key or body cannot leak an answer.
 */
export function openAiApp(service: GatewayService, now: () => number): Handler<Env> {
  const apps = new Map<string, Hono>();
  const getApp = (principal: Principal): Hono => {
    const key = `${principal.role} ${principal.name}`;
    const app =
      apps.get(key) ?? new Hono().route("/v1", openAiRoutes(service, principal, now)).onError(rethrow);
    apps.set(key, app);
    return app;
  };
  return (context) => getApp(context.get("access").principal).fetch(context.req.raw, context.env);
}

/** Leaves an error to the server, which logs it and replies. Hono's own handler would print it. */
function rethrow(error: unknown): never {
  throw error;
}

function openAiRoutes(all: GatewayService, principal: Principal, now: () => number): Hono {
  const app = new Hono();
  const service = scopeService(all, principal);
  const retries = createRetries(principal.name);
  app.use(noStore);
  app.get("/models", (context) => listModels(context, service));
  app.get("/models/:id{.+}", (context) => getModel(context, service));
  app.post("/chat/completions", chatCompletionsRoute(service, retries, now));
  app.post("/responses", responsesRoute(service, retries, now));
  app.all("*", openAiErrors.notFound);
  app.onError((error, context) => {
    if (!(error instanceof InvalidRequestError)) throw error;
    const { message, param, code } = error;
    const status = code === "text_too_long" ? 413 : 400;
    return openAiError(context, status, { message, param, type: "invalid_request_error" });
  });
  return app;
}
