import { ConversationTitle, type Me } from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import { type Principal, userOf } from "../auth/index.ts";
import type { Env } from "../guard.ts";
import { type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";

/** `/api/*` for whoever is signed in: agents, and conversations of one's own. */
export function apiRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  const own = (principal: Principal): ScopedService => scopeService(service, principal);
  app.get("/me", (context) => {
    const { principal } = context.get("access");
    const agents = service.agents();
    const me: Me = {
      user: userOf(principal),
      agents: [...agents],
      demo: agents.some((agent) => agent.demo),
      version: service.version,
    };
    return context.json(me);
  });
  app.get("/agents", (context) => context.json(service.agents()));
  app.get("/conversations", async (context) =>
    context.json(await own(context.get("access").principal).conversations()),
  );
  app.get("/conversations/:id/messages", async (context) => {
    const history = await own(context.get("access").principal).history(context.req.param("id"));
    return history === undefined ? noConversation(context) : context.json(history);
  });
  app.post("/conversations/:id/rename", async (context) => {
    const body = ConversationTitle.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"title": "up to 200 characters"}.');
    const renamed = await own(context.get("access").principal).renameConversation(
      context.req.param("id"),
      body.data.title,
    );
    return renamed ? context.body(null, 204) : noConversation(context);
  });
  app.post("/conversations/:id/remove", async (context) => {
    const outcome = await own(context.get("access").principal).removeConversation(context.req.param("id"));
    if (outcome === "busy") return apiErrors.busy(context);
    return outcome === "removed" ? context.body(null, 204) : noConversation(context);
  });
  return app;
}

function noConversation(context: Context<Env>): Response {
  return apiErrors.missing(context, `conversation ${context.req.param("id")} of yours`);
}
