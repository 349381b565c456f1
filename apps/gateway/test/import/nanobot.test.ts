import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import { expect, it } from "vitest";
import { DAY, hashesOf, leavesOf, NOW, run, stateOf, temporaryFolder } from "./import-run.ts";

const TOKEN = "5551234:AA-invented-bot-token";
const CONFIGURATION = {
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
    telegram: { enabled: true, token: TOKEN, allowFrom: ["5001", "5002"], groupPolicy: "mention" },
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

function createSource(): string {
  const dir = join(temporaryFolder(), ".nanobot");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("config.json", JSON.stringify(CONFIGURATION));
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

it("imports a home of nanobot, and changes nothing in a second run", async () => {
  const dir = createSource();
  const before = hashesOf(dir);
  const { report, store, home } = await run(dir, { system: "nanobot", owners: ["telegram:5001"] });
  expect(hashesOf(dir)).toEqual(before);
  const ids = report.items.map(({ part, id }) => `${part} ${id}`);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(report.items.filter(({ part }) => part === "config")).toHaveLength(leavesOf(CONFIGURATION));
  expect(report.items.filter(({ part }) => part === "sessions")).toHaveLength(4);
  const file = join(home, "signalbox.yaml");
  const loaded = loadConfig({
    file,
    text: readFileSync(file, "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(loaded.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(loaded.config.agents.list).toMatchObject([
    {
      id: "main",
      model: "anthropic/claude-sonnet-4-6",
      thinking: "high",
      limits: { turns: 40 },
      heartbeat: { every: "30m" },
    },
  ]);
  expect(loaded.config.access).toMatchObject({
    owners: ["telegram:5001"],
    allow: ["telegram:5002", "telegram:5003"],
    groups: {
      people: "members",
      rules: { "telegram:-100": { people: "listed", allow: ["telegram:5001", "telegram:5002"] } },
    },
  });
  expect(stateOf(report, "discord:77")).toBe("unsupported");
  const history = await store.sessions.history("agent:main:telegram:direct:5001");
  expect(history.map(({ message }) => (message as { role: string }).role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
  ]);
  expect((await store.sessions.get("agent:main:telegram:direct:5001"))?.data).toEqual({
    taint: { generation: 0, sources: ["web"], speakers: [] },
  });
  expect((await store.sessions.get("agent:main:telegram:main:group:-100"))?.data).toMatchObject({
    taint: { sources: ["history"], speakers: ["unknown"] },
  });
  expect((await store.kv.list("schedules")).map(({ key }) => key)).toEqual(["import-a"]);
  expect(readFileSync(join(home, "workspaces/main/memory/2026-11-29.md"), "utf8")).toBe(
    '- talked about tea <!-- memory {"untrusted":"other"} -->\n',
  );
  expect(JSON.stringify(report)).not.toContain(TOKEN);
  const again = await run(dir, { system: "nanobot", owners: ["telegram:5001"] }, { home });
  expect(again.report.items.filter(({ state }) => state === "imported" || state === "changed")).toEqual([]);
});

it("names what a home without owners lacks, and imports no conversation as an owner's", async () => {
  const { report, store } = await run(createSource(), { system: "nanobot" });
  expect(report.warnings.join("\n")).toContain("--owner");
  expect((await store.sessions.get("agent:main:telegram:direct:5001"))?.data).toMatchObject({
    taint: { speakers: ["unknown"] },
  });
});
