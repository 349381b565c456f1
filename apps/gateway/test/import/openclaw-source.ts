import { join } from "node:path";
import { DAY, leavesOf, NOW, temporaryFolder } from "./import-run.ts";
import { answered, createOpenclawHome, type FixtureSession, said } from "./openclaw-fixture.ts";

export const TOKEN: string = "5551234:AA-invented-bot-token";
export const KEY: string = "sk-invented-model-key-0123456789";

export const CONFIGURATION = {
  gateway: { port: 1 },
  agents: {
    defaults: { model: { primary: "fake/fake-1", fallbacks: ["other/x"] }, userTimezone: "Europe/Berlin" },
    entries: {
      main: {
        default: true,
        name: "Molty",
        thinkingDefault: "xhigh",
        heartbeat: { every: "1h", target: "last" },
      },
      Ops: { tools: { profile: "coding", deny: ["exec", "canvas"] } },
    },
  },
  models: {
    providers: {
      fake: {
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: KEY,
        api: "openai-completions",
        models: [{ id: "fake-1", contextWindow: 64_000, maxTokens: 4_000, input: ["text"] }],
      },
      other: { api: "bedrock-converse-stream", models: [{ id: "x" }] },
    },
  },
  channels: {
    telegram: {
      botToken: TOKEN,
      dmPolicy: "pairing",
      allowFrom: ["5001"],
      groupPolicy: "allowlist",
      groupAllowFrom: ["5001", "5003"],
      groups: { "-1001": { requireMention: true }, "-1002": { allowFrom: ["5003"] } },
    },
    whatsapp: { allowFrom: ["+491"] },
  },
  commands: { ownerAllowFrom: ["telegram:5001"] },
  bindings: [
    { agentId: "Ops", match: { channel: "telegram", peer: { kind: "group", id: "-1001" } } },
    { agentId: "Ops", match: { channel: "telegram", peer: { kind: "direct", id: "777" } } },
  ],
  session: { dmScope: "per-channel-peer", reset: { mode: "daily", atHour: 5 } },
  messages: { queue: { mode: "collect", drop: "summarize" } },
  plugins: { entries: { x: { enabled: true } } },
  mcp: {
    servers: {
      docs: { command: "docs-server", args: ["--stdio"] },
      far: { url: "https://x", auth: "oauth" },
    },
  },
  hooks: {
    token: "invented-hook-token-0123456789",
    mappings: [
      { id: "build", match: { path: "build" }, agentId: "Ops", messageTemplate: "Build {{status}}" },
      { id: "wake", action: "wake" },
    ],
  },
};

export const GROUP: FixtureSession = {
  key: "agent:Ops:telegram:group:-1001",
  windows: [
    {
      id: "w-group",
      createdAt: NOW - DAY,
      events: [
        said("g1", "what is new?", NOW - DAY, { id: "5003", name: "Cid" }),
        answered("g2", "nothing", NOW - DAY + 1),
      ],
    },
  ],
};
export const DIRECT: FixtureSession = {
  key: "agent:main:telegram:direct:5001",
  windows: [
    {
      id: "w1",
      createdAt: NOW - 3 * DAY,
      events: [said("a1", "hello", NOW - 3 * DAY), answered("a2", "hi", NOW - 3 * DAY + 1)],
    },
  ],
};

export const JOBS = [
  {
    id: "j1",
    agentId: "main",
    schedule: { kind: "cron", expr: "0 8 * * *" },
    payload: { kind: "agentTurn", message: "Say good morning", toolsAllow: ["*"] },
    delivery: { mode: "announce", channel: "telegram", to: "5001" },
  },
  {
    id: "j2",
    schedule: { kind: "every", everyMs: 1_000, anchorMs: 0 },
    payload: { kind: "systemEvent", text: "tick" },
  },
  {
    id: "j3",
    schedule: { kind: "at", at: "2020-01-01T00:00:00Z" },
    payload: { kind: "agentTurn", message: "past" },
  },
  { id: "j4", schedule: { kind: "every", everyMs: 60_000 }, payload: { kind: "command", argv: ["rm"] } },
  {
    id: "j5",
    schedule: { kind: "every", everyMs: 60_000 },
    payload: { kind: "agentTurn", message: "few", toolsAllow: ["read"] },
  },
  {
    id: "j6",
    declarationKey: "heartbeat:main",
    schedule: { kind: "every", everyMs: 1 },
    payload: { kind: "heartbeat" },
  },
];

export const FILES = {
  "workspace/AGENTS.md": "Use the canvas.\n",
  "workspace/MEMORY.md": '# Memory\n- tea <!-- memory {"author":"owner"} -->\n',
  "workspace/memory/2026-11-01.md": "- met Ann\n",
  "workspace/memory/2026-11-01-0930.md": "# Plan\n- trip\n",
  "workspace/notes/a.txt": "a",
  "workspace/skills/own/SKILL.md": "---\nname: own\ndescription: d\n---\nx\n",
  "workspace/.git/config": "x",
  "workspace-Ops/SOUL.md": "calm\n",
  "skills/weather/SKILL.md": "---\nname: weather\ndescription: d\n---\nx\n",
  "skills/weather/run.sh": "echo",
  "extensions/x/index.js": "1",
};

/** Creates a home of OpenClaw with the usual content, and returns its folder. */
export function createOpenclawSource(more: Partial<Parameters<typeof createOpenclawHome>[1]> = {}): string {
  const dir = join(temporaryFolder(), ".openclaw");
  createOpenclawHome(dir, {
    configuration: CONFIGURATION,
    sessions: { main: [DIRECT], Ops: [GROUP] },
    paired: [["telegram", "default", "5002"]],
    jobs: JOBS,
    approvals: { agents: { main: { allowlist: [{ pattern: "/usr/bin/uptime" }] } } },
    files: FILES,
    ...more,
  });
  return dir;
}

/** Number of items of each part in {@link createOpenclawSource}. */
export const OPENCLAW_ITEMS: Readonly<Record<string, number>> = {
  // Besides each value, the standing approval and the folder of extensions.
  config: leavesOf(CONFIGURATION) + 2,
  // The two files of `skills/weather` are one skill, and the extension is counted above.
  files: Object.keys(FILES).length - 2,
  sessions: 2,
  schedules: JOBS.length,
  // The paired person, and the group that is not admitted.
  people: 2,
};
