import { ApprovalAnswer, type ApprovalList, type ErrorCode, type Me } from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import type { GatewayService } from "../service/service.ts";

function apiError(
  context: Context,
  status: 400 | 401 | 403 | 404 | 413 | 415 | 429 | 500 | 503,
  error: { code: ErrorCode; message: string; remedy?: string },
): Response {
  return context.json({ error }, status);
}

/** Error replies of `/api`, of webhooks and of everything that is not the OpenAI surface. */
export const apiErrors = {
  unauthorized: (context: Context): Response =>
    apiError(context, 401, {
      code: "unauthorized",
      message: "The token is missing or wrong.",
      remedy:
        "Sign in with the gateway's token (gateway.auth.token, or the file `token` in the gateway's home).",
    }),
  throttled: (context: Context): Response =>
    apiError(context, 429, {
      code: "throttled",
      message: "Too many wrong tokens.",
      remedy: "Wait a minute and try again.",
    }),
  tooLarge: (context: Context): Response =>
    apiError(context, 413, { code: "too_large", message: "The body is over 1 MB.", remedy: "Send less." }),
  wrongHost: (context: Context): Response =>
    apiError(context, 403, {
      code: "forbidden",
      message: "The Host or Origin header does not name this gateway.",
      remedy: "Use the address the gateway listens on, or add the name to gateway.allowedHosts.",
    }),
  notJson: (context: Context): Response =>
    apiError(context, 415, {
      code: "bad_request",
      message: "The content type is not JSON.",
      remedy: "Send application/json.",
    }),
  badJson: (context: Context, remedy: string): Response =>
    apiError(context, 400, {
      code: "bad_request",
      message: "The body is not what is expected here.",
      remedy,
    }),
  notFound: (context: Context): Response =>
    apiError(context, 404, {
      code: "not_found",
      message: `There is no ${context.req.method} ${context.req.path}.`,
    }),
  noAccount: (context: Context, channel: string, account: string): Response =>
    apiError(context, 404, {
      code: "not_found",
      message: `There is no running account ${account} of channel ${channel} that takes webhooks.`,
      remedy: `Check channels.${channel}.accounts in the configuration.`,
    }),
  unavailable: (context: Context, message: string): Response =>
    apiError(context, 503, { code: "full", message, remedy: "Try again soon." }),
  internal: (context: Context): Response =>
    apiError(context, 500, {
      code: "internal",
      message: "Something went wrong in the gateway; its log says what.",
    }),
};

/** `/api/*` behind the guard: what the console and other clients read. */
export function apiRoutes(service: GatewayService): Hono {
  const app = new Hono();
  app.get("/me", (context) => {
    const agents = service.agents();
    const me: Me = {
      user: { id: "owner", name: "owner" },
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
