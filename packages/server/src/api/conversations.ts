import { AbortRequest, defaultAgent, MessageToSend, type Problem, SendFrame } from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";
import { scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { submitMessage } from "./submit-message.ts";

const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  unknown_agent: 404,
  no_agent: 404,
  id_taken: 409,
  full: 503,
  stopping: 503,
};

/** Sends messages and stops runs over HTTP. Replies arrive over the conversation's event stream. */
export function conversationRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  const getScoped = (context: Context<Env>) => scopeService(service, context.get("access").principal);
  app.post("/:id/messages", async (context) => {
    const body = MessageToSend.safeParse(await context.req.json().catch(() => undefined));
    const address = { type: "send", conversation: context.req.param("id") };
    const message = SendFrame.safeParse({ ...address, ...body.data });
    if (!message.success)
      return apiErrors.badJson(context, 'Send {"id": "an id you create", "agent": "…", "text": "…"}.');
    const result = await submitMessage(getScoped(context), message.data);
    return result.kind === "accepted" ? context.json(result.accepted) : refuse(context, result.problem);
  });
  app.post("/:id/abort", async (context) => {
    const body = AbortRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"agent": "…"}, or {} for the default agent.');
    const { agent = defaultAgent(service.agents())?.id ?? "" } = body.data;
    await getScoped(context).abort("web", agent, context.req.param("id"));
    return context.body(null, 204);
  });
  return app;
}

function refuse(context: Context, problem: Problem): Response {
  return context.json({ error: problem }, STATUS[problem.code] ?? 500);
}
