import {
  ApprovalDecision,
  type ApprovalList,
  MessageQuery,
  NewSchedule,
  PairingApproval,
  Person,
  type RemoteChecks,
  type ScheduleList,
  type ScheduleRun,
  type SessionList,
  TranscriptQuery,
  TrustRequest,
  type TrustResult,
  UsageQuery,
  UsageSeriesQuery,
  WhyQuery,
} from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import { hasScope } from "../auth/index.ts";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";
import type { GatewayService } from "../service.ts";
import { getActor } from "./requests.ts";

/** The routes of `/api` for operation: status, messages, pairings, approvals, schedules and maintenance. */
export function ownerRoutes(service: GatewayService): Hono<Env> {
  const app = new Hono<Env>();
  addViews(app, service);
  addPairings(app, service);
  addApprovals(app, service);
  addSchedules(app, service);
  addMaintenance(app, service);
  return app;
}

function addViews(app: Hono<Env>, service: GatewayService): void {
  app.get("/status", async (context) => context.json(await service.status()));
  app.get("/nodes", async (context) => context.json(await service.nodes()));
  app.get("/checks", async (context) => {
    const withModels = context.req.query("models") === "1";
    // A call of a model costs money.
    if (withModels && !hasScope(context.get("access").principal, "write"))
      return apiErrors.forbidden(context);
    const result: RemoteChecks = { checks: await service.checks(withModels) };
    return context.json(result);
  });
  app.get("/trace/:id", async (context) => {
    const trace = await service.trace(context.req.param("id"));
    return trace === undefined ? noMessage(context) : context.json(trace);
  });
  app.get("/sessions", async (context) => {
    const list: SessionList = { sessions: await service.sessions() };
    return context.json(list);
  });
  app.get("/sessions/transcript", async (context) => {
    const query = TranscriptQuery.safeParse(context.req.query());
    if (!query.success)
      return apiErrors.badQuery(context, "Use session=, with the key of a session, and before=.");
    const transcript = await service.transcript(query.data.session, query.data.before);
    return transcript === undefined
      ? apiErrors.missing(context, `session ${query.data.session}`)
      : context.json(transcript);
  });
  app.get("/messages", async (context) => {
    const query = MessageQuery.safeParse(context.req.query());
    if (!query.success)
      return apiErrors.badQuery(
        context,
        "Use session=, outcome=open, answered, unanswered or failed, channel=, agent=, text=, before= and limit=.",
      );
    return context.json(await service.messages(query.data));
  });
  app.get("/usage", async (context) => {
    const query = UsageQuery.safeParse(context.req.query());
    if (!query.success)
      return apiErrors.badQuery(
        context,
        "Use by=day, agent, session, sender or channel, and optionally days, for instance days=30.",
      );
    return context.json(await service.usage(query.data));
  });
  app.get("/usage/series", async (context) => {
    const query = UsageSeriesQuery.safeParse(context.req.query());
    if (!query.success)
      return apiErrors.badQuery(
        context,
        "Use by=agent, session, sender or channel, and optionally days, for instance days=30.",
      );
    return context.json(await service.usageSeries(query.data));
  });
  app.get("/why/:id", async (context) => {
    const query = WhyQuery.safeParse(context.req.query());
    if (!query.success) return apiErrors.badQuery(context, "Use language=en or zh, or leave it out.");
    const why = await service.why(context.req.param("id"), query.data.language);
    return why === undefined ? noMessage(context) : context.json(why);
  });
}

function addPairings(app: Hono<Env>, service: GatewayService): void {
  app.get("/pairings", async (context) => context.json(await service.pairings()));
  app.post("/pairings/approve", async (context) => {
    const body = PairingApproval.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success)
      return apiErrors.badJson(context, 'Send {"code": "the code that the person received"}.');
    const person = await service.approvePairing(body.data.code, getActor(context));
    return person === undefined
      ? apiErrors.missing(context, "pending request with this code")
      : context.json(person);
  });
  app.post("/pairings/revoke", async (context) => {
    const body = Person.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success)
      return apiErrors.badJson(context, 'Send {"channel": "…", "account": "…", "peer": "…"}.');
    const revoked = await service.revokePairing(body.data, getActor(context));
    return revoked ? context.body(null, 204) : apiErrors.missing(context, "paired person with this id");
  });
}

function addApprovals(app: Hono<Env>, service: GatewayService): void {
  app.get("/approvals", async (context) => {
    const list: ApprovalList = { approvals: await service.approvals() };
    return context.json(list);
  });
  app.post("/approvals/:id", async (context) => {
    const body = ApprovalDecision.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"answer": "allow"} or {"answer": "deny"}.');
    const { answer } = body.data;
    if (answer !== "deny" && !hasScope(context.get("access").principal, "owner"))
      return apiErrors.forbidden(context);
    const isDecided = await service.decideApproval(context.req.param("id"), answer, getActor(context));
    return isDecided ? context.body(null, 204) : apiErrors.missing(context, "pending approval with this id");
  });
  app.post("/trust", async (context) => {
    const body = TrustRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"path": "a file in the workspace"}.');
    const result: TrustResult = await service.trust(body.data, getActor(context));
    return context.json(result);
  });
}

function addSchedules(app: Hono<Env>, service: GatewayService): void {
  app.get("/schedules", async (context) => {
    const list: ScheduleList = { schedules: await service.schedules() };
    return context.json(list);
  });
  app.post("/schedules", async (context) => {
    const body = NewSchedule.safeParse(await context.req.json().catch(() => undefined));
    if (!body.success) return apiErrors.badJson(context, 'Send {"text": "…", "in": "2h 30m"}.');
    const result = await service.addSchedule(body.data);
    if (result.ok) record(context, service, "added", `schedule: ${result.schedule.id}`);
    return context.json(result);
  });
  app.post("/schedules/:id/remove", async (context) => {
    const removed = await service.removeSchedule(context.req.param("id"));
    if (!removed) return noSchedule(context);
    record(context, service, "removed", `schedule: ${context.req.param("id")}`);
    return context.body(null, 204);
  });
  app.post("/schedules/:id/run", async (context) => {
    const outcome = await service.runSchedule(context.req.param("id"));
    if (outcome === "unknown") return noSchedule(context);
    record(context, service, "triggered", `schedule: ${context.req.param("id")}`);
    const run: ScheduleRun = { outcome };
    return context.json(run);
  });
}

/** Requests of the command line to a running gateway. */
function addMaintenance(app: Hono<Env>, service: GatewayService): void {
  app.post("/maintenance/prune", async (context) => {
    const report = await service.prune();
    record(context, service, "pruned", "database");
    return context.json(report);
  });
  app.post("/maintenance/vacuum", async (context) => {
    const report = await service.vacuum();
    record(context, service, "vacuumed", "database");
    return context.json(report);
  });
  app.post("/outbox/changed", (context) => {
    service.outboxChanged();
    return context.body(null, 204);
  });
}

function noSchedule(context: Context<Env>): Response {
  return apiErrors.missing(context, `schedule ${context.req.param("id")}`);
}

function noMessage(context: Context<Env>): Response {
  return apiErrors.missing(context, `message ${context.req.param("id")}`);
}

/** Records a change that the service itself does not record. */
function record(context: Context<Env>, { admin }: GatewayService, action: string, subject: string): void {
  admin?.recordOperation(action, subject, getActor(context));
}
