import { AbortRequest, defaultAgent, MessageToSend, type Problem, SendFrame } from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Env } from "../guard.ts";
import { scopeService } from "../scope.ts";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";
import { takeMessage } from "./take-message.ts";

const STATUS: Readonly<Record<string, ContentfulStatusCode>> = {
  unknown_agent: 404,
  no_agent: 404,
  id_taken: 409,
  full: 503,
  stopping: 503,
};

/** What is said in a conversation without a socket; what is answered comes over its event stream. */
export function conversationRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  const own = (context: Context<Env>) => scopeService(service, context.get("access").principal);
  app.post("/:id/messages", async (context) => {
    const body = MessageToSend.safeParse(await context.req.json().catch(() => undefined));
    const named = { type: "send", conversation: context.req.param("id") };
    const message = SendFrame.safeParse({ ...named, ...body.data });
    if (!message.success)
      return apiErrors.badJson(context, 'Send {"id": "one of yours", "agent": "…", "text": "…"}.');
    const taken = await takeMessage(own(context), message.data);
    return taken.kind === "accepted" ? context.json(taken.accepted) : refused(context, taken.problem);
  });
  app.post("/:id/abort", async (context) => {
    const body = AbortRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"agent": "…"}, or {} for the default one.');
    const { agent = defaultAgent(service.agents())?.id ?? "" } = body.data;
    await own(context).abort("web", agent, context.req.param("id"));
    return context.body(null, 204);
  });
  return app;
}

function refused(context: Context, problem: Problem): Response {
  return context.json({ error: problem }, STATUS[problem.code] ?? 500);
}
