import { ApprovalAnswer, type ApprovalList, type Me } from "@signalbox/protocol";
import { Hono } from "hono";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";

/** Whoever holds the token is the owner, and there is nobody else. */
export const OWNER: Me["user"] = { id: "owner", name: "owner" };

/** `/api/*` behind the guard: what the console and other clients read. */
export function apiRoutes(service: GatewayService): Hono {
  const app = new Hono();
  app.get("/me", (context) => {
    const agents = service.agents();
    const me: Me = {
      user: OWNER,
      agents: [...agents],
      demo: agents.some((agent) => agent.demo),
      version: service.version,
    };
    return context.json(me);
  });
  app.get("/agents", (context) => context.json(service.agents()));
  app.get("/status", async (context) => context.json(await service.status()));
  app.get("/conversations", async (context) => context.json(await service.conversations()));
  app.get("/conversations/:id/messages", async (context) => {
    const messages = await service.messages(context.req.param("id"));
    return messages ? context.json({ messages }) : apiErrors.notFound(context);
  });
  app.get("/trace/:id", async (context) => {
    const trace = await service.trace(context.req.param("id"));
    return trace === undefined ? apiErrors.notFound(context) : context.json(trace);
  });
  app.get("/approvals", async (context) => {
    const list: ApprovalList = { approvals: await service.approvals() };
    return context.json(list);
  });
  app.post("/approvals/:id", async (context) => {
    const body = ApprovalAnswer.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"answer": "allow"} or {"answer": "deny"}.');
    const taken = await service.answerApproval(context.req.param("id"), body.data.answer, "token");
    return taken ? context.body(null, 204) : apiErrors.notFound(context);
  });
  app.post("/maintenance/prune", async (context) => context.json(await service.prune()));
  app.post("/maintenance/vacuum", async (context) => context.json(await service.vacuum()));
  app.post("/outbox/changed", (context) => {
    service.outboxChanged();
    return context.body(null, 204);
  });
  return app;
}
