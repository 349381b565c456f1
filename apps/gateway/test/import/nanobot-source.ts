import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DAY, leavesOf, NOW, temporaryFolder } from "./import-run.ts";

export const NANOBOT_TOKEN: string = "5551234:AA-invented-bot-token";
export const NANOBOT_CONFIGURATION = {
  agents: {
    defaults: {
      model: "anthropic/claude-sonnet-4-6",
      maxToolIterations: 40,
      reasoningEffort: "high",
      timezone: "Asia/Shanghai",
    },
  },
  providers: {
    anthropic: { apiKey: "sk-ant-invented-0123456789" },
    groq: { apiKey: "" },
    openai_codex: { apiKey: "x" },
  },
  channels: {
    telegram: { enabled: true, token: NANOBOT_TOKEN, allowFrom: ["5001", "5002"], groupPolicy: "mention" },
    slack: { enabled: false, botToken: "xoxb" },
    whatsapp: { enabled: true, allowFrom: ["+49"] },
  },
  tools: {
    exec: { enable: true, timeout: 30 },
    mcpServers: { docs: { command: "docs-server", args: ["--stdio"] } },
  },
  gateway: { port: 1, heartbeat: { enabled: true, intervalS: 1_800 } },
};

const line = (value: object): string => JSON.stringify(value);
const time = (at: number): string => new Date(at).toISOString();

/** Creates a home of nanobot with the usual content, and returns its folder. */
export function createNanobotSource(): string {
  const dir = join(temporaryFolder(), ".nanobot");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("config.json", JSON.stringify(NANOBOT_CONFIGURATION));
  write("pairing.json", JSON.stringify({ approved: { telegram: ["5003"] }, pending: { ABCD: {} } }));
  const session = (key: string, lines: readonly object[]): void =>
    write(
      `sessions/ws/${Buffer.from(key).toString("base64url")}.jsonl`,
      [
        {
          _type: "metadata",
          key,
          created_at: time(NOW - 2 * DAY),
          updated_at: time(NOW),
          metadata: { title: "Tea" },
        },
        { _type: "provider_state" },
        ...lines,
      ]
        .map(line)
        .join("\n"),
    );
  session("telegram:5001", [
    { role: "user", content: "hello", timestamp: time(NOW - DAY) },
    { role: "user", content: "/status", timestamp: time(NOW - DAY), _command: true },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", function: { name: "web_fetch", arguments: '{"url":"x"}' } }],
      timestamp: time(NOW - DAY),
    },
    { role: "tool", tool_call_id: "c1", name: "web_fetch", content: "page", timestamp: time(NOW - DAY) },
    { role: "assistant", content: "hi", timestamp: time(NOW - DAY) },
    { role: "assistant", content: "hi", timestamp: time(NOW - DAY), _channel_delivery: true },
  ]);
  session("telegram:-100", [{ role: "user", content: "group", timestamp: time(NOW) }]);
  session("discord:77", [{ role: "user", content: "?", timestamp: time(NOW) }]);
  session("cli:direct", [{ role: "user", content: "?", timestamp: time(NOW) }]);
  write(
    "cron/jobs.json",
    JSON.stringify({
      version: 1,
      jobs: [
        {
          id: "a",
          enabled: true,
          schedule: { kind: "cron", expr: "0 9 * * *" },
          payload: { kind: "agent_turn", message: "news", channel: "telegram", to: "5001", deliver: true },
        },
        {
          id: "b",
          enabled: false,
          schedule: { kind: "every", everyMs: 60_000 },
          payload: { message: "off" },
        },
      ],
    }),
  );
  write("workspace/SOUL.md", "kind\n");
  write("workspace/memory/MEMORY.md", "- tea\n");
  write(
    "workspace/memory/history.jsonl",
    line({ cursor: 1, timestamp: time(NOW), content: "talked about tea" }),
  );
  write("workspace/skills/tea/SKILL.md", "---\nname: tea\ndescription: d\n---\nx\n");
  return dir;
}

/** Number of items of each part in {@link createNanobotSource}. */
export const NANOBOT_ITEMS: Readonly<Record<string, number>> = {
  config: leavesOf(NANOBOT_CONFIGURATION),
  // SOUL.md, MEMORY.md, the summaries of one day, and a skill.
  files: 4,
  sessions: 4,
  schedules: 2,
  // The paired person, and the open requests.
  people: 2,
};
