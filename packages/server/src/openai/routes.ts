import { type Handler, Hono } from "hono";
import type { Principal } from "../auth/index.ts";
import { type Env, noStore } from "../guard.ts";
import { scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { openAiError, openAiErrors } from "./errors.ts";
import { getModel, listModels } from "./models.ts";
import { RequestProblem } from "./request.ts";
import { responsesRoute } from "./responses.ts";
import { createRetries } from "./retries.ts";

/**
 * `/v1/models`, `/v1/chat/completions` and `/v1/responses`: an agent is the model, `user` names the peer. Each client
 * has routes of its own, so that nothing of one reaches another, be it by a key or a body that both send.
 */
export function openAiApp(service: GatewayService, now: () => number): Handler<Env> {
  const apps = new Map<string, Hono>();
  const appOf = (principal: Principal): Hono => {
    const key = `${principal.role} ${principal.name}`;
    const app = apps.get(key) ?? new Hono().route("/v1", openAiRoutes(service, principal, now));
    apps.set(key, app);
    return app;
  };
  return (context) => appOf(context.get("access").principal).fetch(context.req.raw, context.env);
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
    if (!(error instanceof RequestProblem)) throw error;
    const { message, param, status } = error;
    return openAiError(context, status, { message, param, type: "invalid_request_error" });
  });
  return app;
}
