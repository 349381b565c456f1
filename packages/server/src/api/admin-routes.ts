import {
  AccountSetup,
  AuditQuery,
  ConfigurationChange,
  ConfigurationRollback,
  LanguageQuery,
  LogQuery,
  McpAcceptance,
  McpToolQuery,
  MemoryAddition,
  MemoryEdit,
  MemoryQuery,
  MemoryRemoval,
  ModelSetup,
  ModelTrial,
  NewToken,
  OutboxQuery,
  ProviderTrial,
  RecordQuery,
  SchedulePause,
  SkillApproval,
  SkillUpload,
  WorkspaceFileChange,
  WorkspacePath,
} from "@signalbox/protocol";
import { type Context, Hono } from "hono";
import type { AdminService } from "../admin-service.ts";
import { ApiError } from "../api-error.ts";
import { hasScope } from "../auth/index.ts";
import type { Env } from "../middleware.ts";
import { getActor, readBody, readQuery } from "./requests.ts";

/** The routes of `/api` that administer the gateway. `requireRouteScope` checks the scope of each. */
export function adminRoutes(admin: AdminService): Hono<Env> {
  const app = new Hono<Env>();
  addConfiguration(app, admin);
  addSetup(app, admin);
  addAgents(app, admin);
  addKnowledge(app, admin);
  addOutbox(app, admin);
  addRecords(app, admin);
  return app;
}

function addConfiguration(app: Hono<Env>, admin: AdminService): void {
  app.get("/configuration", async (context) => context.json(await admin.configuration()));
  app.get("/configuration/schema", async (context) => context.json(await admin.configurationSchema()));
  app.post("/configuration/check", async (context) =>
    context.json(await admin.checkConfiguration(await readBody(context, ConfigurationChange))),
  );
  app.post("/configuration", async (context) =>
    context.json(
      await admin.writeConfiguration(await readBody(context, ConfigurationChange), getActor(context)),
    ),
  );
  app.get("/configuration/history", async (context) => context.json(await admin.configurationHistory()));
  app.get("/configuration/history/:id", async (context) =>
    context.json(await admin.configurationVersion(context.req.param("id"))),
  );
  app.post("/configuration/rollback", async (context) =>
    context.json(
      await admin.rollbackConfiguration(await readBody(context, ConfigurationRollback), getActor(context)),
    ),
  );
}

function addSetup(app: Hono<Env>, admin: AdminService): void {
  app.get("/setup", async (context) => context.json(await admin.setup()));
  app.post("/setup/provider", async (context) =>
    context.json(await admin.tryProvider(await readBody(context, ProviderTrial), getActor(context))),
  );
  app.post("/setup/model", async (context) =>
    context.json(await admin.setUpModel(await readBody(context, ModelSetup), getActor(context))),
  );
  app.post("/setup/account", async (context) =>
    context.json(await admin.setUpAccount(await readBody(context, AccountSetup), getActor(context))),
  );
}

function addAgents(app: Hono<Env>, admin: AdminService): void {
  app.get("/agents/:id", async (context) =>
    context.json(await admin.agent(context.req.param("id"), readQuery(context, LanguageQuery).language)),
  );
  app.get("/agents/:id/prompt", async (context) =>
    context.json(
      await admin.agentPrompt(context.req.param("id"), hasScope(context.get("access").principal, "owner")),
    ),
  );
  app.get("/agents/:id/files", async (context) =>
    context.json(await admin.agentFiles(context.req.param("id"), readQuery(context, WorkspacePath).path)),
  );
  app.get("/agents/:id/file", async (context) =>
    context.json(await admin.agentFile(context.req.param("id"), readQuery(context, WorkspacePath).path)),
  );
  app.post("/agents/:id/file", async (context) => {
    const change = await readBody(context, WorkspaceFileChange);
    return context.json(await admin.writeAgentFile(context.req.param("id"), change, getActor(context)));
  });
  app.get("/models", async (context) => context.json(await admin.models()));
  app.post("/models/try", async (context) => {
    const { model } = await readBody(context, ModelTrial);
    return context.json(await admin.tryModel(model, getActor(context)));
  });
  app.post("/schedules/:id/pause", async (context) => {
    const { paused } = await readBody(context, SchedulePause);
    await admin.pauseSchedule(context.req.param("id"), paused, getActor(context));
    return context.body(null, 204);
  });
}

/** Memory, skills and MCP servers. */
function addKnowledge(app: Hono<Env>, admin: AdminService): void {
  app.get("/memory/:agent", async (context) =>
    context.json(await admin.searchMemory(context.req.param("agent"), readQuery(context, MemoryQuery))),
  );
  app.post("/memory/:agent/add", async (context) => {
    const note = await readBody(context, MemoryAddition);
    return context.json(await admin.addMemory(context.req.param("agent"), note, getActor(context)));
  });
  app.post("/memory/:agent/edit", async (context) => {
    const edit = await readBody(context, MemoryEdit);
    await admin.editMemory(context.req.param("agent"), edit, getActor(context));
    return context.body(null, 204);
  });
  app.post("/memory/:agent/forget", async (context) => {
    const { ids } = await readBody(context, MemoryRemoval);
    return context.json(await admin.forgetMemory(context.req.param("agent"), ids, getActor(context)));
  });
  app.get("/skills", async (context) => context.json(await admin.skills()));
  app.post("/skills", async (context) =>
    context.json(await admin.addSkill(await readBody(context, SkillUpload), getActor(context))),
  );
  app.post("/skills/approve", async (context) => {
    await admin.approveSkill(await readBody(context, SkillApproval), getActor(context));
    return context.body(null, 204);
  });
  app.get("/mcp/:name/tools", async (context) => {
    const isStarting = readQuery(context, McpToolQuery).start === "1";
    // Starting a server runs its program.
    if (isStarting) assertOwner(context);
    return context.json(await admin.mcpTools(context.req.param("name"), isStarting));
  });
  app.post("/mcp/:name/accept", async (context) => {
    const { changes } = await readBody(context, McpAcceptance);
    await admin.acceptMcpTools(context.req.param("name"), changes, getActor(context));
    return context.body(null, 204);
  });
}

function addOutbox(app: Hono<Env>, admin: AdminService): void {
  app.get("/outbox", async (context) =>
    context.json(await admin.outbox(readQuery(context, OutboxQuery).all === "1")),
  );
  app.post("/outbox/:id/retry", async (context) =>
    context.json(await admin.retryReply(context.req.param("id"), getActor(context))),
  );
  app.post("/outbox/:id/drop", async (context) =>
    context.json(await admin.dropReply(context.req.param("id"), getActor(context))),
  );
}

function addRecords(app: Hono<Env>, admin: AdminService): void {
  app.get("/approvals/history", async (context) =>
    context.json(await admin.approvalHistory(readQuery(context, RecordQuery).limit)),
  );
  app.get("/audit", async (context) => context.json(await admin.audit(readQuery(context, AuditQuery))));
  app.get("/audit/verify", async (context) => context.json(await admin.verifyAudit()));
  app.get("/tokens", async (context) => context.json(await admin.tokens()));
  app.post("/tokens", async (context) =>
    context.json(await admin.addToken(await readBody(context, NewToken), getActor(context))),
  );
  app.post("/tokens/:name/revoke", async (context) => {
    await admin.revokeToken(context.req.param("name"), getActor(context));
    return context.body(null, 204);
  });
  app.get("/logs", async (context) => context.json(await admin.logs(readQuery(context, LogQuery))));
  app.get("/health", async (context) =>
    context.json(await admin.health(readQuery(context, LanguageQuery).language)),
  );
}

function assertOwner(context: Context<Env>): void {
  if (hasScope(context.get("access").principal, "owner")) return;
  throw new ApiError("forbidden", "Only owners may start MCP servers.");
}
