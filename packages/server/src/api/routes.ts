import {
  type CommandList,
  CommandQuery,
  ConversationTitle,
  type Me,
  SpeechRequest,
  type SpokenMessage,
} from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import type { Principal } from "../auth/index.ts";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";
import { getUserInfo, type ScopedService, scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";

/** The routes of `/api` for every authenticated client: agents, and the client's own conversations. */
export function apiRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  const getScoped = (principal: Principal): ScopedService => scopeService(service, principal);
  app.get("/me", (context) => {
    const { principal } = context.get("access");
    const agents = service.agents();
    const me: Me = {
      user: getUserInfo(principal),
      agents: [...agents],
      demo: agents.some((agent) => agent.demo),
      version: service.version,
      speech: service.canSpeak(),
    };
    return context.json(me);
  });
  app.get("/agents", (context) => context.json(service.agents()));
  app.get("/commands", (context) => {
    const query = CommandQuery.safeParse(context.req.query());
    if (!query.success) return apiErrors.badQuery(context, "Use language=en or zh, and optionally agent=.");
    const commands = service.commands(query.data, context.get("access").principal);
    if (commands === undefined) return apiErrors.missing(context, `agent ${query.data.agent}`);
    const list: CommandList = { commands };
    return context.json(list);
  });
  app.get("/conversations", async (context) =>
    context.json(await getScoped(context.get("access").principal).conversations()),
  );
  app.get("/conversations/:id/messages", async (context) => {
    const history = await getScoped(context.get("access").principal).history(context.req.param("id"));
    return history === undefined ? noConversation(context) : context.json(history);
  });
  app.post("/conversations/:id/speech", async (context) => {
    const body = SpeechRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"message": "the id of an answer"}.');
    const scoped = getScoped(context.get("access").principal);
    const spoken: SpokenMessage = await scoped.speak(context.req.param("id"), body.data.message);
    return context.json(spoken);
  });
  app.post("/conversations/:id/rename", async (context) => {
    const body = ConversationTitle.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"title": "1 to 200 characters"}.');
    const renamed = await getScoped(context.get("access").principal).renameConversation(
      context.req.param("id"),
      body.data.title,
    );
    return renamed ? context.body(null, 204) : noConversation(context);
  });
  app.post("/conversations/:id/remove", async (context) => {
    const outcome = await getScoped(context.get("access").principal).removeConversation(
      context.req.param("id"),
    );
    if (outcome === "busy") return apiErrors.busy(context);
    return outcome === "removed" ? context.body(null, 204) : noConversation(context);
  });
  return app;
}

function noConversation(context: Context<Env>): Response {
  return apiErrors.missing(context, `conversation ${context.req.param("id")}`);
}
