import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, secretSources } from "@signalbox/home";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { DAY, hashesOf, NOW, run, stateOf, temporaryFolder, whyOf } from "./import-run.ts";

const TOKEN = "5551234:AA-invented-bot-token";

function createSource(
  configuration = "_config_version: 50\nmodel: { default: local/qwen, provider: local }\ncustom_providers: [{ name: local, base_url: 'http://127.0.0.1:9/v1', api_key: sk-invented-0123456789 }]\nagent: { max_turns: 60, reasoning_effort: none }\ndisplay: { busy_input_mode: queue }\ntimezone: Europe/Berlin\nvoice: { on: true }\n",
): string {
  const dir = join(temporaryFolder(), ".hermes");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("config.yaml", configuration);
  write(
    ".env",
    `TELEGRAM_BOT_TOKEN=${TOKEN}\nTELEGRAM_ALLOWED_USERS=5001,5002\nGATEWAY_ALLOW_ALL_USERS=true\nOTHER=1\n`,
  );
  write("SOUL.md", "kind\n");
  write("memories/MEMORY.md", "likes tea\n§\nlives in Bonn\n");
  write("memories/USER.md", "Ann\n");
  write("skills/food/tea/SKILL.md", "---\nname: tea\ndescription: d\n---\nx\n");
  write("skills/.bundled_manifest", "other:1\n");
  write("pairing/telegram-approved.json", JSON.stringify({ 5003: { user_name: "Cid" } }));
  write("auth.json", "{}");
  write(
    "cron/jobs.json",
    JSON.stringify([
      {
        id: "a",
        prompt: "news",
        skills: ["tea"],
        schedule: { kind: "cron", expr: "0 9 * * *" },
        deliver: "telegram:5001",
        enabled: true,
      },
      { id: "b", prompt: "x", script: "run.py", schedule: { kind: "interval", interval: 5 } },
    ]),
  );
  const db = new Sqlite(join(dir, "state.db"));
  db.exec(`CREATE TABLE sessions (id TEXT, source TEXT, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT,
      thread_id TEXT, display_name TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
      tool_calls TEXT, tool_name TEXT, timestamp REAL, observed INTEGER, active INTEGER);`);
  const addSession = db.prepare("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, NULL, ?)");
  const start = (NOW - 2 * DAY) / 1_000;
  addSession.run(
    "s1",
    "telegram",
    "5001",
    "agent:main:telegram:dm:5001",
    "5001",
    "dm",
    "Ann",
    null,
    start,
    "Tea",
  );
  addSession.run(
    "s2",
    "telegram",
    "5001",
    "agent:main:telegram:dm:5001",
    "5001",
    "dm",
    "Ann",
    "s1",
    start + 60,
    "Tea",
  );
  addSession.run(
    "g1",
    "telegram",
    "5001",
    "agent:main:telegram:group:-100",
    "-100",
    "group",
    "Team",
    null,
    start,
    null,
  );
  addSession.run("cli", "cli", null, null, null, null, null, null, start, null);
  const addMessage = db.prepare("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  addMessage.run("s1", "user", "hello", null, null, null, start, 0, 1);
  addMessage.run("s1", "assistant", "undone", null, null, null, start, 0, 0);
  addMessage.run("s1", "assistant", "hi", null, null, null, start + 1, 0, 1);
  addMessage.run("s2", "user", "fetch it", null, null, null, start + 60, 0, 1);
  addMessage.run(
    "s2",
    "assistant",
    null,
    null,
    JSON.stringify([{ id: "c", function: { name: "terminal", arguments: "{}" } }]),
    null,
    start + 61,
    0,
    1,
  );
  addMessage.run("s2", "tool", "out", "c", null, "terminal", start + 62, 0, 1);
  addMessage.run("s2", "assistant", "done", null, null, null, start + 63, 0, 1);
  addMessage.run("g1", "user", "aside", null, null, null, start, 1, 1);
  addMessage.run("g1", "user", "asked", null, null, null, start, 0, 1);
  db.close();
  return dir;
}

it("imports a home of Hermes, and changes nothing in a second run", async () => {
  const dir = createSource();
  const before = hashesOf(dir);
  const options = { system: "hermes", owners: ["telegram:5001"] } as const;
  const { report, store, home } = await run(dir, options);
  expect(hashesOf(dir)).toEqual(before);
  const ids = report.items.map(({ part, id }) => `${part} ${id}`);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  expect(report.items.filter(({ part }) => part === "sessions").map(({ id, state }) => [id, state])).toEqual([
    ["g1", "imported"],
    ["s2", "imported"],
    ["cli", "skipped"],
    ["s1", "skipped"],
  ]);
  const file = join(home, "signalbox.yaml");
  const loaded = loadConfig({
    file,
    text: readFileSync(file, "utf8"),
    env: {},
    sources: secretSources(locateHome(home, {}), {}),
  });
  expect(loaded.problems.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(loaded.config.agents.list).toMatchObject([
    { id: "main", model: "local/qwen", thinking: "off", limits: { turns: 60 } },
  ]);
  expect(loaded.config.access).toMatchObject({
    dm: "pairing",
    owners: ["telegram:5001"],
    allow: ["telegram:5002", "telegram:5003"],
  });
  expect(loaded.config.session.queue.mode).toBe("followup");
  expect(report.warnings.join("\n")).toContain("GATEWAY_ALLOW_ALL_USERS is not imported");
  expect(stateOf(report, "voice.on")).toBe("unsupported");
  expect(stateOf(report, '[".env"].OTHER')).toBe("unsupported");
  const session = await store.sessions.get("agent:main:telegram:direct:5001");
  expect(session).toMatchObject({ generation: 1, messageCount: 4, title: "Tea" });
  expect((await store.sessions.transcript("agent:main:telegram:direct:5001")).length).toBe(6);
  expect((await store.sessions.history("agent:main:telegram:main:group:-100")).length).toBe(1);
  expect((await store.kv.list("schedules")).map(({ value }) => value)).toMatchObject([
    {
      when: { zone: "Europe/Berlin" },
      task: { text: "Use the skill tea.\nnews", sessionKey: "agent:main:telegram:direct:5001" },
    },
  ]);
  expect(readFileSync(join(home, "workspaces/main/memory/MEMORY.md"), "utf8")).toMatch(
    /^- likes tea .*untrusted.*\n- lives in Bonn/,
  );
  expect(JSON.stringify(report)).not.toContain(TOKEN);
  const again = await run(dir, options, { home });
  expect(again.report.items.filter(({ state }) => state === "imported" || state === "changed")).toEqual([]);
});

it("does not read the configuration of a newer version, and imports the rest", async () => {
  const { report, store } = await run(createSource("_config_version: 51\nmodel: x/y\n"), {
    system: "hermes",
    secrets: false,
  });
  expect(report.warnings.join("\n")).toContain("newer Hermes");
  expect(stateOf(report, "config.yaml")).toBe("unsupported");
  expect(await store.sessions.get("agent:main:telegram:direct:5001")).toBeDefined();
});

it("imports no file through a link", async () => {
  const dir = createSource();
  const outside = temporaryFolder();
  for (const name of ["SOUL.md", "MEMORY.md", "USER.md"]) writeFileSync(join(outside, name), "private\n");
  mkdirSync(join(outside, "food/tea"), { recursive: true });
  writeFileSync(join(outside, "food/tea/SKILL.md"), "---\nname: tea\ndescription: d\n---\nprivate\n");
  for (const [name, target] of [
    ["SOUL.md", join(outside, "SOUL.md")],
    ["memories", outside],
    ["skills", outside],
  ] as const) {
    rmSync(join(dir, name), { recursive: true });
    symlinkSync(target, join(dir, name));
  }
  writeFileSync(join(dir, "AGENTS.md"), "brief\n");
  const { report, home } = await run(dir, { system: "hermes" });
  for (const id of ["SOUL.md", "memories/MEMORY.md", "memories/USER.md", "skills"])
    expect(whyOf(report, id)).toBe("A link, which may lead out of the folder.");
  expect(stateOf(report, "AGENTS.md")).toBe("imported");
  for (const path of ["SOUL.md", "USER.md", "memory/MEMORY.md"])
    expect(existsSync(join(home, "workspaces/main", path))).toBe(false);
  expect(existsSync(join(home, "skills/tea"))).toBe(false);
});
