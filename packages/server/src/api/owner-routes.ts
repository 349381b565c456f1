import { ApprovalAnswer, type ApprovalList, type TrustAnswer, TrustRequest } from "@signalbox/protocol";
import { Hono } from "hono";
import type { Env } from "../guard.ts";
import type { GatewayService } from "../service.ts";
import { apiErrors } from "./errors.ts";

/** `/api/*` for owners: how the gateway does, what it asks, and its upkeep. */
export function ownerRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/status", async (context) => context.json(await service.status()));
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
    const { name } = context.get("access").principal;
    const taken = await service.answerApproval(context.req.param("id"), body.data.answer, `token ${name}`);
    return taken ? context.body(null, 204) : apiErrors.notFound(context);
  });
  app.post("/trust", async (context) => {
    const body = TrustRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"path": "a file of the workspace"}.');
    const { name } = context.get("access").principal;
    const answer: TrustAnswer = await service.trust(body.data.agent, body.data.path, `token ${name}`);
    return context.json(answer);
  });
  app.post("/maintenance/prune", async (context) => context.json(await service.prune()));
  app.post("/maintenance/vacuum", async (context) => context.json(await service.vacuum()));
  app.post("/outbox/changed", (context) => {
    service.outboxChanged();
    return context.body(null, 204);
  });
  return app;
}
