/** Test data for the pages that administer the gateway, with hostile text in fields that others control. */
import type {
  AgentDetails,
  AgentInfo,
  AgentPrompt,
  AuditList,
  Configuration,
  HealthFinding,
  LogEntry,
  McpServerInfo,
  McpToolList,
  MemoryResult,
  ModelList,
  OutboxReply,
  ScheduleInfo,
  Setup,
  SkillList,
  TokenInfo,
  WorkspaceFile,
  WorkspaceFolder,
} from "@signalbox/protocol";
import { HOSTILE } from "../replies.ts";
import type { Routes } from "../routes.ts";

const AT = 1_700_000_000_000;

const agents: AgentInfo[] = [
  { id: "coder", name: "代码助手", model: "anthropic/claude-sonnet-4-6", demo: false, default: true },
  { id: "writer", name: HOSTILE, model: "demo/demo", demo: true },
];

const agent: AgentDetails = {
  id: "coder",
  name: "代码助手",
  model: "anthropic/claude-sonnet-4-6",
  demo: false,
  default: true,
  fallbacks: ["openai/gpt-5"],
  workspace: "/home/me/.signalbox/workspaces/coder",
  tools: [
    {
      name: "read",
      source: "built-in",
      decision: "allow",
      rule: "allow list",
      reason: "The list allows it.",
    },
    { name: "exec", source: "built-in", decision: "deny", rule: "deny list", reason: "A list denies it." },
    { name: "mcp__files__find", source: "mcp", decision: "ask", rule: HOSTILE, reason: HOSTILE },
  ],
  skills: [
    { id: "tidy", description: HOSTILE, source: "workspace", state: "pending", reasons: ["It is new."] },
    { id: "pdf", description: "PDFs", source: "bundled", state: "active", reasons: [] },
    {
      id: "github",
      description: "Works with GitHub",
      source: "bundled",
      state: "excluded",
      reasons: ["gh is not on the path."],
      install: { command: "signalbox skills install github", methods: ["brew: gh"] },
    },
  ],
};

const prompt: AgentPrompt = {
  messageId: "01KABC",
  at: AT,
  model: "anthropic/claude-sonnet-4-6",
  digest: "abc",
  sections: [
    { name: "identity", part: "stable", chars: 4_000, tokens: 1_000, text: `You are careful. ${HOSTILE}` },
    { name: "time", part: "volatile", chars: 40, tokens: 10 },
  ],
};

const folder: WorkspaceFolder = {
  path: "",
  entries: [
    { name: "notes", kind: "folder" },
    { name: "AGENTS.md", kind: "file", bytes: 1_200, modifiedAt: AT },
    { name: HOSTILE, kind: "file", bytes: 3, modifiedAt: AT },
  ],
  truncated: false,
};

const file: WorkspaceFile = { path: "AGENTS.md", text: "Be brief.\n", revision: "r1" };

const models: ModelList = {
  providers: ["anthropic"],
  models: [
    {
      model: "anthropic/claude-sonnet-4-6",
      contextWindow: 200_000,
      maxOutputTokens: 64_000,
      inputPrice: 3_000_000,
      outputPrice: 15_000_000,
    },
    { model: "anthropic/claude-haiku", contextWindow: 200_000, maxOutputTokens: 8_000 },
  ],
};

const schedules: ScheduleInfo[] = [
  {
    id: "a1b2c3d4",
    agent: "coder",
    session: "agent:coder:web:direct:schedules",
    place: { channel: "feishu", kind: "group", id: "oc_1", name: "项目组" },
    when: "every day at 09:00",
    nextAt: AT + 3_600_000,
    missed: "once",
    text: "总结昨天的会议",
    last: { messageId: "01KABC", at: AT, state: "failed-reported" },
  },
  {
    id: "e5f6",
    agent: "coder",
    session: "s",
    when: "every 2h",
    nextAt: AT,
    missed: "skip",
    text: HOSTILE,
    paused: true,
  },
];

const memory: MemoryResult = {
  summary: "Two entries.",
  notes: 12,
  turns: 340,
  entries: [
    {
      id: "MEMORY.md:3",
      source: "note",
      text: "The cat is called Wasabi.",
      scope: "person",
      scopeId: "owners",
      path: "memory/MEMORY.md",
      lines: [3, 3],
    },
    {
      id: "t1",
      source: "turn",
      text: HOSTILE,
      at: AT,
      scope: "chat",
      scopeId: HOSTILE,
      author: HOSTILE,
      messageId: "01KABD",
      untrusted: "web page",
    },
  ],
};

const skills: SkillList = {
  agents: [
    { agent: "coder", skills: agent.skills },
    { agent: "support", shard: "support#2", skills: [] },
  ],
  pending: [
    {
      id: "tidy",
      description: HOSTILE,
      dir: "/home/me/.signalbox/workspaces/coder/skills/tidy",
      digest: "d1",
      agents: ["coder"],
      added: ["SKILL.md"],
      changed: [],
      removed: [],
      diff: "--- /dev/null\n+++ SKILL.md\n@@ -0,0 +1 @@\n+Tidy up.\n",
    },
  ],
  problems: [],
};

const servers: McpServerInfo[] = [
  {
    name: "files",
    transport: "stdio",
    state: "ready",
    tools: ["mcp__files__find"],
    notes: [],
    needsSignIn: false,
  },
  {
    name: "tickets",
    transport: "http",
    state: "down",
    tools: [],
    notes: [HOSTILE],
    needsSignIn: true,
    signIn: { state: "signed_out" },
  },
];

const tools: McpToolList = {
  at: "npx @example/files",
  agents: ["coder"],
  tools: [
    { name: "mcp__files__find", description: HOSTILE, schema: HOSTILE, agents: ["coder"], changed: true },
  ],
  changes: "c1",
};

export const CONFIGURATION: Configuration = {
  file: "/home/me/.signalbox/signalbox.yaml",
  editable: true,
  text: 'gateway:\n  port: 4747\nmodels:\n  providers:\n    openai:\n      apiKey: "<secret models.providers.openai.apiKey>"\n',
  revision: "r1",
  values: {
    gateway: { port: 4747 },
    models: {
      providers: { openai: { api: "openai-chat", apiKey: "<secret models.providers.openai.apiKey>" } },
    },
  },
  problems: [],
  state: { forStart: [], kept: [], errors: [] },
  keysForStart: ["gateway.host", "gateway.port"],
};

const REFERENCE = {
  oneOf: [{ type: "object", properties: { file: { type: "string" } } }],
};

const schema = {
  type: "object",
  properties: {
    gateway: {
      type: "object",
      properties: {
        port: { type: "integer", description: "The port.", default: 4747 },
        host: { type: "string", default: "127.0.0.1" },
        logLevel: { type: "string", enum: ["debug", "info"], default: "info" },
        allowedHosts: { type: "array", items: { type: "string" } },
      },
    },
    models: {
      type: "object",
      properties: {
        providers: {
          type: "object",
          additionalProperties: {
            type: "object",
            properties: {
              api: { type: "string", enum: ["openai-chat", "demo"] },
              apiKey: { anyOf: [{ type: "string" }, REFERENCE] },
            },
          },
        },
      },
    },
    replies: { type: "object", properties: { typing: { type: "boolean" } } },
  },
};

const outbox: OutboxReply[] = [
  {
    id: "o1",
    state: "uncertain",
    channel: "feishu",
    account: "main",
    createdAt: AT,
    updatedAt: AT,
    attempts: 3,
    error: HOSTILE,
    text: "会议纪要如下",
  },
];

const health: HealthFinding[] = [
  { part: "disk", state: "warning", detail: "0.4 GB free", remedy: "Free some space." },
  { part: "channel telegram/bot", state: "error", detail: HOSTILE, remedy: HOSTILE },
  { part: "node", state: "ok", detail: "Node.js 24.0.0" },
];

const logs: LogEntry[] = [
  { at: AT, level: "info", message: "started", fields: { url: "http://127.0.0.1:4747" } },
  { at: AT + 1_000, level: "error", message: HOSTILE, fields: { err: HOSTILE, account: "telegram/bot" } },
];

const audit: AuditList = {
  entries: [
    {
      seq: 2,
      at: AT,
      kind: "tool",
      action: "denied",
      actor: HOSTILE,
      subject: "exec",
      details: { rule: HOSTILE },
    },
    { seq: 1, at: AT, kind: "sign_in", action: "signed_in", actor: "owner", subject: "127.0.0.1" },
  ],
  next: 1,
};

const tokens: TokenInfo[] = [
  { name: "laptop", role: "owner", createdAt: AT, usedAt: AT },
  { name: "board", role: "viewer", createdAt: AT },
];

const setup: Setup = {
  editable: true,
  model: "anthropic/claude-sonnet-4-6",
  providers: [
    {
      id: "anthropic",
      label: "Anthropic",
      needs: "key",
      keyPage: "https://console.anthropic.com/settings/keys",
      isConfigured: true,
      missingPackages: [],
    },
    { id: "claude", label: "Claude plan", needs: "token", isConfigured: false, missingPackages: [] },
    { id: "local", label: "Your own server", needs: "address", isConfigured: false, missingPackages: [] },
  ],
  channels: [
    {
      id: "feishu",
      label: "Feishu / Lark",
      accounts: ["main"],
      missingPackages: ["@larksuiteoapi/node-sdk"],
      fields: [
        { name: "appId", label: "App ID", isSecret: false },
        { name: "appSecret", label: "App secret", isSecret: true, hint: "From Credentials" },
        {
          name: "transport",
          label: "How events arrive",
          isSecret: false,
          options: [
            { value: "webhook", label: "Webhook" },
            { value: "socket", label: "Long connection", hint: "needs no public address" },
          ],
        },
        { name: "verificationToken", label: "Verification token", isSecret: true },
        { name: "baseUrl", label: "API address", isSecret: false },
      ],
      steps: [
        {
          text: "Copy the App ID and the App Secret.",
          url: "https://open.feishu.cn/app",
          fields: ["appId", "appSecret"],
        },
        { text: "Enable the bot.", fields: ["transport"] },
        {
          text: "Enter this request URL: {webhook}",
          fields: ["verificationToken"],
          when: { transport: "webhook" },
        },
      ],
    },
  ],
};

/** Responses for the pages that administer the gateway. */
export const ADMIN_ROUTES: Routes = {
  "GET /api/agents": agents,
  "GET /api/agents/*": agent,
  "GET /api/agents/*/prompt": prompt,
  "GET /api/agents/*/files": folder,
  "GET /api/agents/*/file": file,
  "GET /api/models": models,
  "GET /api/setup": setup,
  "GET /api/schedules": { schedules },
  "GET /api/memory/*": memory,
  "GET /api/skills": skills,
  "GET /api/mcp": { servers },
  "GET /api/mcp/files/tools": tools,
  "GET /api/mcp/tickets/tools": { at: "https://tickets.example", agents: [], tools: [] },
  "GET /api/configuration": CONFIGURATION,
  "GET /api/configuration/schema": schema,
  "GET /api/configuration/history": {
    versions: [
      { id: "2026-11-22T14-35-00.000Z", replacedAt: AT, actor: "laptop owner", keys: ["gateway.port"] },
      {
        id: "2026-11-21T09-00-00.000Z",
        replacedAt: AT - 86_400_000,
        keys: ["agents.list[0].name", "skills"],
      },
    ],
  },
  "GET /api/configuration/history/*": {
    id: "2026-11-22T14-35-00.000Z",
    text: "gateway:\n  port: 1\n",
    diff: "-  port: 4747\n+  port: 1\n",
    keys: ["gateway.port"],
    forStart: ["gateway.port"],
    programs: [],
  },
  "GET /api/outbox": { replies: outbox },
  "GET /api/health": { findings: health },
  "GET /api/checks": { checks: [] },
  "GET /api/logs": { lines: logs },
  "GET /api/audit": audit,
  "GET /api/audit/verify": { intact: true, count: 2 },
  "GET /api/tokens": { tokens },
  "GET /api/sign-ins": {
    signIns: [
      {
        id: "s-1",
        name: "owner",
        role: "owner",
        createdAt: 1_795_000_000_000,
        usedAt: 1_795_003_600_000,
        isCurrent: true,
      },
    ],
  },
};
