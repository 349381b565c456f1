import { Hono } from "hono";
import type { GatewayService } from "../service.ts";
import { chatCompletionsRoute } from "./chat-completions.ts";
import { badRequest, openAiErrors } from "./errors.ts";
import { getModel, listModels } from "./models.ts";
import { RequestProblem } from "./request.ts";
import { responsesRoute } from "./responses.ts";
import { createRetries } from "./retries.ts";

/** `/v1/models`, `/v1/chat/completions` and `/v1/responses`: an agent is the model, `user` names the peer. */
export function openAiRoutes(service: GatewayService, now: () => number): Hono {
  const app = new Hono();
  const retries = createRetries();
  app.get("/models", (context) => listModels(context, service));
  app.get("/models/:id{.+}", (context) => getModel(context, service));
  app.post("/chat/completions", chatCompletionsRoute(service, retries, now));
  app.post("/responses", responsesRoute(service, retries, now));
  app.all("*", openAiErrors.notFound);
  app.onError((error, context) => {
    if (error instanceof RequestProblem) return badRequest(context, error.message, error.param);
    throw error;
  });
  return app;
}
